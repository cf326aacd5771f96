package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A get allocates its value and nothing else; a get into the caller's slice, one of
// a lease that is released, and a set allocate nothing.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: allocations are counted without it")
		return
	}
	onSockets(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := context.Background()
		value, dst := make([]byte, 1024), make([]byte, 0, 2048)
		require.NoError(t, c.Set(ctx, client.Item{Key: "large", Value: make([]byte, 64<<10)}))
		for _, p := range []struct {
			what string
			want float64
			f    func() error
		}{
			{"set", 0, func() error { return c.Set(ctx, client.Item{Key: "k", Value: value}) }},
			{"get", 1, func() error { _, err := c.Get(ctx, "k"); return err }},
			{"get append", 0, func() error { _, _, err := c.GetAppend(ctx, dst, "k"); return err }},
			{"get lease", 0, func() error {
				l, err := c.GetLease(ctx, "large")
				if err != nil {
					return err
				}
				return l.Release()
			}},
			{"touch", 0, func() error { return c.Touch(ctx, "k", 0) }},
		} {
			var err error
			// AllocsPerRun rounds down, so a stray one in 100 (a timer of the
			// engine, a pool emptied by the collector) does not count.
			n := testing.AllocsPerRun(200, func() {
				if e := p.f(); e != nil {
					err = e
				}
			})
			require.NoError(t, err, p.what)
			require.Equal(t, p.want, n, p.what)
		}
	})
}
