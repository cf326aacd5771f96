package client_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	defer l.Close()
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			srv.Serve(nc)
		}
	}()
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		c := dial(t, &client.Config{Engine: kind}, l.Addr().String())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
		it, err := c.Get(patient(t), "k")
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value))
	})
}

// Connections of the user's own making run on the poll engine.
func TestDialContext(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
	c := dial(t, &client.Config{DialContext: srv.DialContext}, "anywhere.example:11211")
	name, reason := c.Engine()
	require.Equal(t, client.EnginePoll, name)
	require.ErrorContains(t, reason, "DialContext")
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
	it, err := c.Get(patient(t), "k")
	require.NoError(t, err)
	require.Equal(t, "v", string(it.Value))

	_, err = client.New([]string{"a:1"}, &client.Config{Engine: client.URing, DialContext: srv.DialContext})
	require.ErrorIs(t, err, client.ErrConfig)
}

// Several rings share nothing but the client.
func TestRings(t *testing.T) {
	if uringMissing() != nil {
		t.Skipf("there is no io_uring here: %v", uringMissing())
	}
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
	c := dial(t, &client.Config{Engine: client.URing, Rings: 3}, mc.Addr())
	keys := keysOf("ring-%d", 200)
	fill(t, c, keys, 1)
	done := make(chan error)
	for range 8 {
		go func() {
			for range 20 {
				if err := firstError(c, patient(t), keys...); err != nil {
					done <- err
					return
				}
				if _, err := c.Get(patient(t), keys[7]); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	require.LessOrEqual(t, c.Counters().Dials, uint64(6))
}
