package client_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// engines are what every test of behaviour runs on.
var engines = []struct {
	name string
	kind client.EngineKind
}{{"uring", client.URing}, {"poll", client.Poll}}

// uringMissing says why this machine or build has no io_uring. Where it has,
// no test is left out.
var uringMissing = sync.OnceValue(func() error {
	c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
	if err != nil {
		return err
	}
	return c.Close()
})

// onEngines runs f on both engines.
func onEngines(t *testing.T, f func(t *testing.T, kind client.EngineKind)) {
	t.Helper()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			if e.kind == client.URing && uringMissing() != nil {
				t.Skipf("there is no io_uring here, so this half cannot be tested: %v", uringMissing())
			}
			f(t, e.kind)
		})
	}
}

// onMatrix runs f on both engines over both networks, and over TLS, each against a
// memcached of its own.
func onMatrix(t *testing.T, f func(t *testing.T, c *client.Client, mc *memcachedtest.Process)) {
	t.Helper()
	onSockets(t, f)
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		t.Run("tls", func(t *testing.T) {
			mc := startTLS(t, memcachedtest.Options{})
			cfg := &client.Config{Engine: kind, OpTimeout: 20 * time.Second, TLS: testTLS()}
			f(t, dial(t, cfg, mc.Addr()), mc)
		})
	})
}

// onSockets is onMatrix without TLS.
func onSockets(t *testing.T, f func(t *testing.T, c *client.Client, mc *memcachedtest.Process)) {
	t.Helper()
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(network, func(t *testing.T) {
				mc := memcachedtest.Start(t, memcachedtest.Options{Network: network})
				f(t, dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second}, mc.Addr()), mc)
			})
		}
	})
}

// dial makes a client that is closed with the test.
func dial(t testing.TB, cfg *client.Config, servers ...string) *client.Client {
	t.Helper()
	c, err := client.New(servers, cfg)
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

// eventually waits for cond, which asynchronous work makes true.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("never happened: %s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func opError(t testing.TB, err error) *client.OpError {
	t.Helper()
	var op *client.OpError
	require.Truef(t, errors.As(err, &op), "%T %v is no *OpError", err, err)
	return op
}

func keysOf(format string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(format, i)
	}
	return keys
}
