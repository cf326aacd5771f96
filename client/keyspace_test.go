package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Whatever the keys are, callers see theirs, and the server its own.
func TestKeyspace(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		cfg := client.Config{Engine: kind, OpTimeout: 20 * time.Second, KeyPrefix: "app:", BinaryKeys: true, HashLongKeys: true}
		c := dial(t, &cfg, mc.Addr())
		plain := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, BinaryKeys: true}, mc.Addr())
		for _, key := range []string{
			"key", "a b", "\x00", "k\r\nflush_all\r\n", "\xff\xfe", strings.Repeat("\n", client.MaxBinaryKeyLen-4),
			strings.Repeat("\n", client.MaxBinaryKeyLen-3), strings.Repeat("k", 10_000), "sha256:abc",
		} {
			want := client.Item{Key: key, Value: []byte("value of " + key)}
			require.NoError(t, c.Set(patient(t), want))
			it, err := c.Get(patient(t), key)
			require.NoError(t, err)
			require.Equal(t, want.Value, it.Value)
			require.Equal(t, key, it.Key)
			_, err = plain.Get(patient(t), key[:min(len(key), 100)])
			require.ErrorIs(t, err, client.ErrNotFound, "without the prefix there is no such item")
			if stored := "app:" + key; len(stored) < client.MaxBinaryKeyLen && !strings.HasPrefix(key, "sha256") {
				it, err = plain.Get(patient(t), stored)
				require.NoError(t, err, "the server must store the key itself, not its base64")
				require.Equal(t, want.Value, it.Value)
			}
			require.NoError(t, c.Touch(patient(t), key, time.Hour))
			require.NoError(t, c.Append(patient(t), client.Item{Key: key, Value: []byte("!")}))
			require.NoError(t, c.Delete(patient(t), key))
			_, err = c.Get(patient(t), key)
			require.ErrorIs(t, err, client.ErrNotFound)
			n, err := c.Increment(patient(t), key, 1, &client.Counter{Value: 7})
			require.NoError(t, err)
			require.EqualValues(t, 7, n)
		}
	})
}

// GetMulti returns the keys that were asked for, not those of the server.
func TestKeyspaceMulti(t *testing.T) {
	onSockets(t, func(t *testing.T, _ *client.Client, mc *memcachedtest.Process) {
		c := dial(t, &client.Config{OpTimeout: 20 * time.Second, KeyPrefix: "app:", HashLongKeys: true}, mc.Addr())
		keys := append(keysOf("key-%d", 50), strings.Repeat("k", 1000), strings.Repeat("k", 1001))
		for i := range keys {
			if i%3 != 1 {
				require.NoError(t, c.Set(patient(t), client.Item{Key: keys[i], Value: []byte(keys[i])}))
			}
		}
		got := make(map[string]string)
		for it, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			got[it.Key] = string(it.Value)
		}
		for i, k := range keys {
			v, ok := got[k]
			require.Equal(t, i%3 != 1, ok)
			require.Equal(t, ok, v == k)
		}
	})
}
