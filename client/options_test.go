package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// One caller wins an item that is missing, the others are told so.
func TestVivify(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		viv := client.GetOptions{Vivify: time.Minute}
		it, err := c.Get(patient(t), "k", viv)
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State)
		require.Empty(t, it.Value)
		l, err := c.GetLease(patient(t), "k", viv)
		require.NoError(t, err)
		require.Equal(t, client.Claimed, l.State)
		require.NoError(t, l.Release())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v"), TTL: time.Minute}))
		v, it, err := c.GetAppend(patient(t), nil, "k", viv)
		require.NoError(t, err)
		require.Equal(t, "v", string(v))
		require.Zero(t, it.State)

		// It has less than two minutes left, so it is to be stored anew, once.
		again := client.GetOptions{Recache: 2 * time.Minute}
		it, err = c.Get(patient(t), "k", again)
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State)
		require.Equal(t, "v", string(it.Value))
		it, err = c.Get(patient(t), "k", again)
		require.NoError(t, err)
		require.Equal(t, client.Claimed, it.State)
	})
}
