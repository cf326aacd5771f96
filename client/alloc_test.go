package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A get allocates its value and nothing else, and its Info if it was asked for; an
// increment its number; a get into the caller's slice, one of a lease that is released,
// and a set allocate nothing. Options cost no allocation.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: allocations are counted without it")
		return
	}
	onSockets(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := context.Background()
		value, dst := make([]byte, 1024), make([]byte, 0, 2048)
		require.NoError(t, c.Set(ctx, client.Item{Key: "large", Value: make([]byte, 64<<10)}))
		hints, absent := client.Hints{P: "pool", L: "/a/b"}, []string{"none", "neither"}
		var cas, unchanged uint64
		var left time.Duration
		require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: value, TTL: time.Minute}))
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
			{"get multi", 7, func() error { // its job and functions, and a copy of the keys
				var err error
				for _, e := range c.GetMulti(ctx, absent) {
					err = e
				}
				return err
			}},
			{"get with options", 1, func() error {
				_, err := c.Get(ctx, "k", client.GetOptions{Touch: time.Hour, Vivify: time.Minute, Recache: time.Second, NoBump: true, Hints: hints})
				return err
			}},
			{"get append with options", 0, func() error {
				_, _, err := c.GetAppend(ctx, dst, "k", client.GetOptions{Touch: time.Hour, Vivify: time.Minute, Hints: hints})
				return err
			}},
			{"info", 1, func() error { _, _, err := c.GetAppend(ctx, dst, "k", client.GetOptions{Info: true}); return err }},
			{"inspect", 1, func() error { _, err := c.Inspect(ctx, "k"); return err }},
			{"set with options", 0, func() error {
				if err := c.Set(ctx, client.Item{Key: "k", Value: value}, client.StoreOptions{StoredCAS: &cas, Hints: hints}); err != nil {
					return err
				}
				return c.Set(ctx, client.Item{Key: "k", Value: value}, client.StoreOptions{IfCAS: cas, StaleIfOlder: true})
			}},
			{"append that could create", 0, func() error {
				return c.Append(ctx, client.Item{Key: "appended"}, client.StoreOptions{Create: true})
			}},
			{"unchanged", 0, func() error {
				_, _, err := c.GetAppend(ctx, dst, "appended", client.GetOptions{UnlessCAS: unchanged})
				if !errors.Is(err, client.ErrNotModified) {
					return errors.New("it is not unchanged")
				}
				return nil
			}},
			{"invalidate", 0, func() error {
				return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true, TTL: time.Minute, Hints: hints})
			}},
			{"increment with options", 1, func() error {
				_, err := c.Increment(ctx, "n", 1, &client.Counter{Value: 1e9}, client.CounterOptions{CAS: &cas, TTL: &left, Touch: time.Hour})
				return err
			}},
		} {
			if p.what == "unchanged" {
				it, err := c.Inspect(ctx, "appended")
				require.NoError(t, err)
				unchanged = it.CAS
			}
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
