package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// What a client takes is seen, so it is also seen if it does not give it back.
func TestHoldingsOfAClient(t *testing.T) {
	require.NoError(t, warm())
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		before := settled()
		c, err := client.New([]string{mc.Addr()}, &client.Config{Engine: kind})
		require.NoError(t, err)
		require.NoError(t, c.Ping(t.Context()))
		during := held()
		require.Greater(t, during.fds, before.fds)
		if kind == client.URing {
			require.Greater(t, during.goroutines, before.goroutines)
			require.Greater(t, during.mappings, before.mappings)
			t.Logf("pinned: %d KiB before, %d KiB now", before.pinnedKiB, during.pinnedKiB)
		}
		require.NoError(t, c.Close())
		n, what := leaked(before)
		require.Zero(t, n, what)
	})
}
