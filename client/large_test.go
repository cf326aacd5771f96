package client_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// largeValue makes a value without a short period.
func largeValue(size int) []byte {
	b := make([]byte, size)
	x := uint32(size + 1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// Values of all sizes around those at which their way through the client
// changes come back as they were, however they are asked for.
func TestLargeValues(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(network, func(t *testing.T) {
				mc := memcachedtest.Start(t, memcachedtest.Options{Network: network, ItemLimitBytes: 16 << 20, MemoryMiB: 512})
				c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1}, mc.Addr())
				ctx := patient(t)
				keys := keysOf("large:%d", 14)
				values := make(map[string][]byte)
				for i, size := range []int{
					0, 1, 64<<10 - 40, 64<<10 - 30, 64 << 10, 64<<10 + 1, 128<<10 - 60, 128<<10 - 20, 128 << 10, 300 << 10,
					1 << 20, 2<<20 + 17, 5 << 20, 15 << 20,
				} {
					values[keys[i]] = largeValue(size)
					require.NoError(t, c.Set(ctx, client.Item{Key: keys[i], Value: values[keys[i]]}))
				}
				dst := make([]byte, 0, 8<<20)
				for _, k := range keys {
					it, err := c.Get(ctx, k)
					require.NoError(t, err)
					require.True(t, bytes.Equal(values[k], it.Value), "get %s", k)
					assert.Equal(t, len(it.Value), cap(it.Value), "exactly as large as needed")
					out, _, err := c.GetAppend(ctx, append(dst[:0], "head"...), k)
					require.NoError(t, err)
					require.True(t, bytes.Equal(values[k], out[4:]) && string(out[:4]) == "head", "get append %s", k)
				}
				seen := 0
				for it, err := range c.GetMulti(ctx, keys) {
					require.NoError(t, err)
					require.True(t, bytes.Equal(values[it.Key], it.Value), "get multi %s", it.Key)
					seen++
				}
				assert.Equal(t, len(keys), seen)
				assert.EqualValues(t, 1, c.Counters().Dials)
			})
		}
	})
}

// A call that gives up while a large value lands in its slice gets the slice
// back: nothing is written to it any more, the rest is thrown away, and the
// connection goes on.
func TestTimeoutWhileLanding(t *testing.T) {
	const size = 400 << 10
	cfg := client.Config{ConnsPerServer: 1, DirectReceive: 1}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		for _, k := range []string{"a", "b"} {
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: append([]byte(k), largeValue(size)...)}))
		}
		dst := make([]byte, size+100)
		for _, at := range []int{100, 70 << 10, 200 << 10, size, size + 20} {
			release := make(chan struct{})
			srv.SetScript(memcachedtest.OnKey("a", memcachedtest.Answer().StallAt(at, release)))
			for i, call := range []func(context.Context) error{
				func(ctx context.Context) error { _, _, err := c.GetAppend(ctx, dst[:0], "a"); return err },
				func(ctx context.Context) error { _, err := c.Get(ctx, "a"); return err },
				func(ctx context.Context) error { return firstError(c, ctx, "a", "b") },
			} {
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				if i == 1 {
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				err := call(ctx)
				cancel()
				require.Error(t, err, "call %d", i)
				require.Equal(t, client.Unknown, opError(t, err).Outcome)
				require.False(t, client.SafeToRetry(err))
			}
			clear(dst) // it is ours again
			close(release)
			srv.SetScript(nil)
			it, err := c.Get(patient(t), "b")
			require.NoError(t, err)
			require.True(t, bytes.Equal(append([]byte("b"), largeValue(size)...), it.Value))
			for _, b := range dst {
				if b != 0 {
					t.Fatal("a late reply was written to a caller's slice")
				}
			}
		}
		n := c.Counters()
		assert.EqualValues(t, 1, n.Dials)
		assert.Zero(t, n.Losses)
		assert.Zero(t, n.Desyncs)
	})
}

// What is handed out refers to memory of its own, never to a receive buffer:
// values that ended wherever in a buffer stay as they were while the buffers go
// on being used, and keep no more than themselves alive.
func TestValuesAreTheirOwn(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1}, mc.Addr())
		ctx := patient(t)
		const n = 3000
		keys := keysOf("own:%04d", n)
		want := make(map[string][]byte, n)
		for i, k := range keys {
			size := 100 + i%300
			if i%100 == 0 { // with its header and end these fill a buffer, give or take a few bytes
				size = 64<<10 - 48 + i/100
			}
			want[k] = largeValue(size)
			require.NoError(t, c.Set(ctx, client.Item{Key: k, Value: want[k]}))
		}
		kept := make(map[string][]byte, n)
		before := liveHeap()
		var bytesKept, room int
		for _, k := range keys {
			it, err := c.Get(ctx, k)
			require.NoError(t, err)
			kept[k] = it.Value
			bytesKept += len(it.Value)
			room += cap(it.Value)
		}
		grown := liveHeap() - before
		assert.Less(t, grown, int64(bytesKept)*5/4+1<<20, "values keep more than themselves alive")
		for it, err := range c.GetMulti(ctx, keys) { // over the same buffers
			require.NoError(t, err)
			require.True(t, bytes.Equal(want[it.Key], it.Value))
		}
		for k, v := range kept {
			require.True(t, bytes.Equal(want[k], v), fmt.Sprint(k, " has changed"))
		}
		assert.Equal(t, bytesKept, room, "values have room that nobody needs")
	})
}

// liveHeap is how much memory is reachable.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // and what pools had kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
