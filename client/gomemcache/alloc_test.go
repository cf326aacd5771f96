//go:build !race

package memcache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
)

// A call costs no allocation beyond what it returns: an Item and its Value.
func TestAllocations(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		_, one := start(t)
		_, two := start(t)
		c := dial(t, cfg, listOf(t, one, two))
		item := &memcache.Item{Key: "key", Value: make([]byte, 100)}
		require.NoError(t, c.Set(item))
		require.Equal(t, 2.0, testing.AllocsPerRun(100, func() { _, _ = c.Get("key") }))
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = c.Set(item) }))
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = c.Get("nothing") }), "a miss")
	})
}
