package typed_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/typed"
)

// uringMissing says why this machine or build has no io_uring. Where it has, no test
// is left out.
var uringMissing = sync.OnceValue(func() error {
	c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
	if err != nil {
		return err
	}
	return c.Close()
})

// onEngines runs f on both engines, each with a memcached of its own. Leased memory
// is poisoned once it is given back, so that a codec which keeps it is found.
func onEngines(t *testing.T, f func(t *testing.T, c *client.Client)) {
	t.Helper()
	onEnginesWith(t, client.Config{PoisonLeases: true}, f)
}

func onEnginesWith(t *testing.T, cfg client.Config, f func(t *testing.T, c *client.Client)) {
	t.Helper()
	run := func(name string, kind client.EngineKind) {
		t.Run(name, func(t *testing.T) {
			cfg.Engine = kind
			f(t, dial(t, &cfg))
		})
	}
	if err := uringMissing(); err != nil {
		t.Logf("there is no io_uring here, so this half cannot be tested: %v", err)
	} else {
		run("uring", client.URing)
	}
	run("poll", client.Poll)
}

// dial makes a client with a memcached of its own.
func dial(t testing.TB, cfg *client.Config) *client.Client {
	t.Helper()
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix", ItemLimitBytes: 8 << 20})
	cfg.OpTimeout = 20 * time.Second
	c, err := client.New([]string{mc.Addr()}, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// patient is a context that ends long before a hanging test would be noticed
// otherwise, and never in a test that works.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// cacheOf makes a cache that is expected to be possible.
func cacheOf[T any](t testing.TB, c *client.Client, codec typed.Codec[T], cfg *typed.Config) *typed.Cache[T] {
	t.Helper()
	cache, err := typed.New(c, codec, cfg)
	require.NoError(t, err)
	return cache
}

// user is what programs store.
type user struct {
	Name  string            `json:"name"`
	Age   int               `json:"age,omitempty"`
	Tags  []string          `json:"tags,omitempty"`
	Photo []byte            `json:"photo,omitempty"`
	More  map[string]string `json:"more,omitempty"`
}

// large is a value that compresses well.
func large() user {
	return user{Name: strings.Repeat("Ada Lovelace ", 1000), Age: 36, Tags: []string{"a", "b"}, Photo: []byte{0, 1, 2}, More: map[string]string{"k": "v"}}
}

func ptr[T any](v T) *T { return &v }
