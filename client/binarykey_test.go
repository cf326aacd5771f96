package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// memcached writes the key of an item that a get or an increment has made as it is.
// If such a key has a newline, that must not get the connection out of step.
func TestBinaryKeysOfItemsMadeByTheServer(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, BinaryKeys: true}, mc.Addr())
		it, err := c.Get(patient(t), "a b\r\nc", client.GetOptions{Vivify: time.Minute})
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State)
		require.Equal(t, "a b\r\nc", it.Key)
		require.NoError(t, c.Touch(patient(t), "a b\r\nc", time.Hour))
		_, err = c.Increment(patient(t), "d e\r\nf", 1, &client.Counter{Value: 7})
		require.NoError(t, err)
		it, err = c.GetAndTouch(patient(t), "d e\r\nf", time.Hour)
		require.NoError(t, err)
		require.Equal(t, "7", string(it.Value))
		require.Zero(t, c.Counters().Losses)
	})
}
