package memcache_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
)

// Config.KeyPrefix is in front of the keys of all calls, and of none that return.
func TestKeyPrefix(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc, addr := start(t)
		direct, err := client.New([]string{mc.Addr()}, &client.Config{Engine: cfg.Engine})
		require.NoError(t, err)
		defer func() { require.NoError(t, direct.Close()) }()
		cfg.KeyPrefix = "app:"
		c := dial(t, cfg, listOf(t, addr))

		require.NoError(t, c.Set(&memcache.Item{Key: "k", Value: []byte("1")}))
		require.NoError(t, c.Add(&memcache.Item{Key: "other", Value: []byte("2")}))
		n, err := c.Increment("k", 4)
		require.NoError(t, err)
		require.EqualValues(t, 5, n)
		it, err := c.Get("k")
		require.NoError(t, err)
		require.Equal(t, "k", it.Key)
		require.Equal(t, "5", string(it.Value))
		items, err := c.GetMulti([]string{"k", "other", "none"})
		require.NoError(t, err)
		require.Len(t, items, 2)
		require.Equal(t, "k", items["k"].Key)
		require.Equal(t, "2", string(items["other"].Value))
		stored, err := direct.Get(context.Background(), "app:k")
		require.NoError(t, err)
		require.Equal(t, "5", string(stored.Value))
		require.NoError(t, c.Delete("k"))
		_, err = direct.Get(context.Background(), "app:k")
		require.ErrorIs(t, err, client.ErrNotFound)

		long := strings.Repeat("k", client.MaxKeyLen-len(cfg.KeyPrefix)+1)
		_, err = c.Get(long)
		require.Equal(t, memcache.ErrMalformedKey, err)
		_, err = c.GetMulti([]string{long})
		require.Equal(t, memcache.ErrMalformedKey, err)
	})
}
