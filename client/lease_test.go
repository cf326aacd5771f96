package client_test

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Leased values of all sizes around the classes' borders, and around those at which
// their way through the client changes, come back as they were, also in memory that
// was used before, and stay as they are until they are released.
func TestLeases(t *testing.T) {
	sizes := []int{0, 1, 64<<10 - 40, 64<<10 - 30, 128<<10 - 60, 1 << 20, 2<<20 + 17, 16 << 20, 16<<20 + 1}
	for doubling := 1 << 10; doubling <= 256<<10; doubling *= 2 {
		for quarter := range 4 {
			border := doubling / 4 * (4 + quarter)
			sizes = append(sizes, border-1, border, border+1)
		}
	}
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix", ItemLimitBytes: 32 << 20, MemoryMiB: 512})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1}, mc.Addr())
		ctx := patient(t)
		keys := keysOf("lease:%d", len(sizes))
		values := make(map[string][]byte)
		for i, k := range keys {
			values[k] = largeValue(sizes[i])
			require.NoError(t, c.Set(ctx, client.Item{Key: k, Value: values[k], Flags: uint32(i)}))
		}
		for range 3 {
			for i, k := range keys {
				l, err := c.GetLease(ctx, k)
				require.NoError(t, err)
				require.Equal(t, k, l.Key)
				require.True(t, bytes.Equal(values[k], l.Value), sizes[i])
				require.NotNil(t, l.Value)
				require.Equal(t, len(l.Value), cap(l.Value), "what is appended goes elsewhere")
				require.EqualValues(t, i, l.Flags)
				require.NotZero(t, l.CAS)
				scribble(l.Value)
				require.NoError(t, l.Release())
				require.Nil(t, l.Value)
			}
			var kept []client.Lease
			for l, err := range c.GetMultiLease(ctx, append([]string{"none"}, keys...)) {
				require.NoError(t, err)
				kept = append(kept, l)
			}
			require.Len(t, kept, len(keys))
			for i := range kept {
				require.True(t, bytes.Equal(values[kept[i].Key], kept[i].Value), kept[i].Key)
				require.Equal(t, kept[i].Key, keys[kept[i].Flags])
				require.Equal(t, len(kept[i].Value), cap(kept[i].Value))
				scribble(kept[i].Value)
				require.NoError(t, kept[i].Release())
			}
		}
		assert.EqualValues(t, 1, c.Counters().Dials)
	})
}

// scribble writes to memory that is ours.
func scribble(b []byte) {
	for i := range b {
		b[i] = 0xC8
	}
}

// A lease ends once. Every further release is an error and does nothing, by
// whichever copy, and also when the memory is lent again.
func TestReleaseTwice(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		for _, k := range []string{"a", "b", "empty"} {
			v := bytes.Repeat([]byte(k), 3000)
			if k == "empty" {
				v = nil
			}
			require.NoError(t, c.Set(ctx, client.Item{Key: k, Value: v}))
		}
		for range 20 { // the pool may give other memory now and then
			for _, k := range []string{"a", "empty"} {
				first, err := c.GetLease(ctx, k)
				require.NoError(t, err)
				copied := first
				require.NoError(t, first.Release())
				require.ErrorIs(t, first.Release(), client.ErrReleased)
				require.ErrorIs(t, copied.Release(), client.ErrReleased)

				second, err := c.GetLease(ctx, "b")
				require.NoError(t, err)
				require.ErrorIs(t, first.Release(), client.ErrReleased)
				require.ErrorIs(t, copied.Release(), client.ErrReleased)
				third, err := c.GetLease(ctx, "a")
				require.NoError(t, err)
				require.Equal(t, bytes.Repeat([]byte("b"), 3000), second.Value, "lent twice at one time")
				require.NoError(t, second.Release())
				require.NoError(t, third.Release())
			}
		}

		var zero client.Lease
		require.NoError(t, zero.Release())
		missed, err := c.GetLease(ctx, "none")
		require.ErrorIs(t, err, client.ErrNotFound)
		require.Zero(t, missed)
		require.NoError(t, missed.Release())
		require.NoError(t, missed.Release())

		last, err := c.GetLease(ctx, "a")
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Equal(t, bytes.Repeat([]byte("a"), 3000), last.Value, "leases outlive their client")
		require.NoError(t, last.Release())
		require.ErrorIs(t, last.Release(), client.ErrReleased)
	})
}

// Of those who release copies of one lease at the same time, one does.
func TestReleaseAtOnce(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
		for range 100 {
			l, err := c.GetLease(patient(t), "k")
			require.NoError(t, err)
			var released atomic.Int32
			var wg sync.WaitGroup
			for range 4 {
				mine := l
				wg.Go(func() {
					if err := mine.Release(); err == nil {
						released.Add(1)
					} else {
						assert.ErrorIs(t, err, client.ErrReleased)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, released.Load())
		}
	})
}

// A lease that nobody releases is garbage like anything else, while its client
// lives on.
func TestLostLease(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		keys := keysOf("lost:%d", 4)
		for _, k := range keys {
			require.NoError(t, c.Set(ctx, client.Item{Key: k, Value: make([]byte, 100<<10)}))
		}
		var lost []weak.Pointer[byte]
		l, err := c.GetLease(ctx, keys[0])
		require.NoError(t, err)
		lost = append(lost, weak.Make(&l.Value[0]))
		for m, err := range c.GetMultiLease(ctx, keys) {
			require.NoError(t, err)
			lost = append(lost, weak.Make(&m.Value[0]))
		}
		require.Len(t, lost, 1+len(keys))
		require.NotNil(t, lost[0].Value())
		runtime.KeepAlive(l)
		l = client.Lease{}
		eventually(t, "the collector took what was lost", func() bool {
			runtime.GC()
			for _, w := range lost {
				if w.Value() != nil {
					return false
				}
			}
			return true
		})
	})
}

// A reply that is found to be wrong is not lent, at whichever of its bytes, and the
// next lease has its own value.
func TestLeaseDesync(t *testing.T) {
	const size = 300 << 10
	cut := func(at int) memcachedtest.Action {
		return memcachedtest.Answer().Edit(func(b []byte) []byte { return append(b[:at:at], "\r\nEND\r\nVA"...) }).Close()
	}
	for name, fault := range map[string]memcachedtest.Action{
		"line end":     memcachedtest.Answer().Edit(func(b []byte) []byte { return append(b[:len(b)-2], "xx"...) }),
		"cut in value": cut(1000),
		"cut landing":  cut(200 << 10),
		"wrong opaque": memcachedtest.Answer().WrongOpaque(),
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 1, DirectReceive: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				for _, k := range []string{"bad", "good"} {
					require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: append([]byte(k), largeValue(size)...)}))
				}
				for range 3 {
					srv.SetScript(memcachedtest.OnKey("bad", fault))
					l, err := c.GetLease(patient(t), "bad")
					require.ErrorIs(t, err, client.ErrConnLost)
					require.Zero(t, l)
					srv.SetScript(nil)
					one, err := c.GetLease(patient(t), "good")
					require.NoError(t, err)
					two, err := c.GetLease(patient(t), "bad")
					require.NoError(t, err)
					require.True(t, bytes.Equal(append([]byte("good"), largeValue(size)...), one.Value))
					require.True(t, bytes.Equal(append([]byte("bad"), largeValue(size)...), two.Value))
					require.NoError(t, one.Release())
					require.NoError(t, two.Release())
				}
			})
		})
	}
}

func firstLeaseError(c *client.Client, ctx context.Context, keys ...string) error {
	for l, err := range c.GetMultiLease(ctx, keys) {
		if err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}
