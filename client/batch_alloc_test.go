package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A batch allocates nothing for each of its items, nor for each key that is missing:
// only a few things for itself, and lists on its connection that grow to its window. An
// entry of a Batch is its Result, and its options if it has any.
func TestBatchAllocs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: allocations are counted without it")
		return
	}
	// Not over TLS: crypto/tls allocates for each record.
	onSockets(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := context.Background()
		const count = 2000
		keys := keysOf("alloc-%d", count)
		items := make([]client.Item, count)
		for i := range items {
			items[i] = client.Item{Key: keys[i], Value: make([]byte, 100)}
		}
		for _, p := range []struct {
			what string
			each int // allocations for an entry
			f    func() error
		}{
			{"set multi", 0, func() error { return c.SetMulti(ctx, items) }},
			{"set multi, options", 0, func() error { return c.SetMulti(ctx, items, client.StoreOptions{Hints: client.Hints{P: "p"}}) }},
			{"touch multi", 0, func() error { return c.TouchMulti(ctx, keys, 0) }},
			{"batch", 1, func() error {
				var b client.Batch
				for i := range items {
					b.Set(items[i])
				}
				return c.Do(ctx, &b)
			}},
			{"batch, options", 2, func() error {
				var b client.Batch
				for i := range items {
					b.Set(items[i], client.StoreOptions{StoredCAS: &items[i].CAS})
				}
				return c.Do(ctx, &b)
			}},
			{"get multi", 0, func() (err error) {
				for l, e := range c.GetMultiLease(ctx, keys, client.GetOptions{NoBump: true}) {
					if e == nil {
						e = l.Release()
					}
					if e != nil {
						err = e
					}
				}
				return err
			}},
			{"invalidate multi", 0, func() error { return c.DeleteMulti(ctx, keys, client.DeleteOptions{Invalidate: true}) }},
			{"delete multi", 0, func() error { return client.Except(c.DeleteMulti(ctx, keys), client.ErrNotFound) }},
		} {
			var err error
			n := testing.AllocsPerRun(20, func() {
				if e := p.f(); e != nil {
					err = e
				}
			})
			require.NoError(t, err, p.what)
			require.Less(t, n, count*(float64(p.each)+0.1), p.what)
		}
	})
}
