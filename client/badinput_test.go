package client_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

var badKeys = map[string]string{
	"empty":   "",
	"long":    strings.Repeat("k", client.MaxKeyLen+1),
	"space":   "a b",
	"newline": "a\r\nflush_all",
	"tab":     "a\tb",
	"zero":    "a\x00b",
	"delete":  "a\x7fb",
}

// callsWith is every call that takes a key.
func callsWith(c *client.Client, key string) map[string]func(context.Context) error {
	it := client.Item{Key: key, CAS: 1}
	return map[string]func(context.Context) error{
		"get":         func(ctx context.Context) error { _, err := c.Get(ctx, key); return err },
		"get append":  func(ctx context.Context) error { _, _, err := c.GetAppend(ctx, nil, key); return err },
		"get lease":   func(ctx context.Context) error { _, err := c.GetLease(ctx, key); return err },
		"multi lease": func(ctx context.Context) error { return firstLeaseError(c, ctx, key) },
		"gat":         func(ctx context.Context) error { _, err := c.GetAndTouch(ctx, key, 0); return err },
		"touch":       func(ctx context.Context) error { return c.Touch(ctx, key, 0) },
		"delete":      func(ctx context.Context) error { return c.Delete(ctx, key) },
		"set":         func(ctx context.Context) error { return c.Set(ctx, it) },
		"add":         func(ctx context.Context) error { return c.Add(ctx, it) },
		"replace":     func(ctx context.Context) error { return c.Replace(ctx, it) },
		"append":      func(ctx context.Context) error { return c.Append(ctx, it) },
		"prepend":     func(ctx context.Context) error { return c.Prepend(ctx, it) },
		"cas":         func(ctx context.Context) error { return c.CompareAndSwap(ctx, it) },
		"incr":        func(ctx context.Context) error { _, err := c.Increment(ctx, key, 1, nil); return err },
		"decr":        func(ctx context.Context) error { _, err := c.Decrement(ctx, key, 1, nil); return err },
		"get multi":   func(ctx context.Context) error { return firstError(c, ctx, key) },
		"multi mixed": func(ctx context.Context) error { return firstError(c, ctx, key, key) },
	}
}

func firstError(c *client.Client, ctx context.Context, keys ...string) error {
	for _, err := range c.GetMulti(ctx, keys) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Bad input has a typed error without the key in it, and the server sees
// nothing of it.
func TestBadInputIsNeverSent(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
		c := dial(t, &client.Config{Engine: kind}, srv.Addr())
		ctx := patient(t)
		for what, key := range badKeys {
			for call, f := range callsWith(c, key) {
				err := f(ctx)
				require.ErrorIs(t, err, client.ErrKey, "%s, %s key", call, what)
				require.True(t, client.SafeToRetry(err), call)
				if len(key) > 1 {
					require.NotContains(t, err.Error(), key)
				}
			}
		}
		for _, ttl := range []time.Duration{-1, -time.Second, math.MinInt64, math.MaxInt64} {
			_, err := c.GetAndTouch(ctx, "k", ttl)
			require.ErrorIs(t, err, client.ErrTTL, ttl)
			require.ErrorIs(t, c.Touch(ctx, "k", ttl), client.ErrTTL, ttl)
			require.ErrorIs(t, c.Set(ctx, client.Item{Key: "k", TTL: ttl}), client.ErrTTL, ttl)
			_, err = c.Increment(ctx, "k", 1, &client.Counter{TTL: ttl})
			require.ErrorIs(t, err, client.ErrTTL, ttl)
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		for call, f := range callsWith(c, "k") {
			err := f(canceled)
			require.ErrorIs(t, err, context.Canceled, call)
			require.True(t, client.SafeToRetry(err), call)
		}
		require.Zero(t, srv.BytesRead(), "nothing was sent")
		require.Zero(t, c.Counters().Dials)

		// A bad key in a multi-get costs nobody else anything.
		require.NoError(t, c.Set(ctx, client.Item{Key: "good"}))
		var hits, bad int
		for it, err := range c.GetMulti(ctx, []string{"a b", "good", ""}) {
			if err != nil {
				require.ErrorIs(t, err, client.ErrKey)
				require.Len(t, opError(t, err).Keys, 1)
				bad++
			} else {
				require.Equal(t, "good", it.Key)
				hits++
			}
		}
		assert.Equal(t, 1, hits)
		assert.Equal(t, 2, bad)
	})
}

func TestNilClient(t *testing.T) {
	var c *client.Client
	ctx := context.Background()
	for call, f := range callsWith(c, "k") {
		require.ErrorIs(t, f(ctx), client.ErrNilClient, call)
	}
	require.ErrorIs(t, c.Ping(ctx), client.ErrNilClient)
	require.ErrorIs(t, c.FlushAll(ctx), client.ErrNilClient)
	_, err := c.Version(ctx)
	require.ErrorIs(t, err, client.ErrNilClient)
	_, err = c.Stats(ctx)
	require.ErrorIs(t, err, client.ErrNilClient)
	require.ErrorIs(t, c.Close(), client.ErrNilClient)
	_, err = c.Engine()
	require.ErrorIs(t, err, client.ErrNilClient)
	require.Nil(t, c.Servers())
	require.Zero(t, c.Counters())
}

func TestBadConfiguration(t *testing.T) {
	for _, servers := range [][]string{
		nil, {""}, {"host"}, {"host:"}, {":11211"}, {"host:0"}, {"host:65536"}, {"host:x"}, {"h ost:1"},
		{"unix:"}, {"/tmp/x"}, {"unix:/" + strings.Repeat("x", 200)}, {"::1:11211"}, {"[::1]"}, {"foo/bar:1"}, {"user@host:1"}, {"a,b:1"}, {"[zz]:1"}, {"unix:rel"}, {"a:1", "a:1"},
	} {
		_, err := client.New(servers, nil)
		require.ErrorIs(t, err, client.ErrConfig, "%q", servers)
	}
	for _, cfg := range []client.Config{{Engine: 99}, {Rings: -1}, {Rings: 1000}, {ConnsPerServer: -1}, {ConnsPerServer: 1 << 20}} {
		_, err := client.New([]string{"a:1"}, &cfg)
		require.ErrorIs(t, err, client.ErrConfig, "%+v", cfg)
	}
	for _, addr := range []string{"127.0.0.1:11211", "[::1]:11211", "example.com:1", "unix:/x", "unix:@abstract", "[fe80::1%lo]:1", "höst_1.example:1"} {
		c, err := client.New([]string{addr}, &client.Config{Engine: client.Poll})
		require.NoError(t, err, addr)
		require.Equal(t, []string{addr}, c.Servers())
		require.NoError(t, c.Close())
	}
}
