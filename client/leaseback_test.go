//go:build !race

package client

// The race detector makes sync.Pool forget, so what comes back is counted without it.

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// Memory that was borrowed for a call which then fails goes back, wherever the call
// ends, as does what a loop does not come to see.
func TestMemoryComesBack(t *testing.T) {
	const size = 300 << 10
	ctx := context.Background()
	get := func(cl *Client, key string) error {
		l, err := cl.GetLease(ctx, key)
		return errorsOf(err, l.Release())
	}
	midway := func(call func(ctx context.Context, cl *Client) error) func(*testing.T, *Client, *memcachedtest.Server) {
		return func(t *testing.T, cl *Client, srv *memcachedtest.Server) {
			release := make(chan struct{})
			srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().StallAt(200<<10, release)))
			ctx, cancel := context.WithCancel(ctx)
			before := cl.Counters().BytesIn
			done := make(chan error)
			go func() { done <- call(ctx, cl) }()
			for cl.Counters().BytesIn == before { // the rest is not counted before it has come whole
				time.Sleep(50 * time.Microsecond)
			}
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			close(release)
			srv.SetScript(nil)
		}
	}
	broken := func(fault memcachedtest.Action) func(*testing.T, *Client, *memcachedtest.Server) {
		return func(t *testing.T, cl *Client, srv *memcachedtest.Server) {
			srv.SetScript(memcachedtest.OnKey("k", fault))
			require.ErrorIs(t, get(cl, "k"), ErrConnLost)
			srv.SetScript(nil)
		}
	}
	for name, f := range map[string]func(*testing.T, *Client, *memcachedtest.Server){
		"released": func(t *testing.T, cl *Client, _ *memcachedtest.Server) { require.NoError(t, get(cl, "k")) },
		"canceled": midway(func(ctx context.Context, cl *Client) error { _, err := cl.GetLease(ctx, "k"); return err }),
		"multi-get canceled": midway(func(ctx context.Context, cl *Client) (last error) {
			for l, err := range cl.GetMultiLease(ctx, []string{"k", "l"}) {
				last = errorsOf(err, l.Release())
			}
			return last
		}),
		"no line end":     broken(memcachedtest.Answer().Edit(func(b []byte) []byte { return append(b[:len(b)-2], "xx"...) })),
		"connection lost": broken(memcachedtest.Answer().CutAt(200 << 10)),
		"loop left": func(t *testing.T, cl *Client, _ *memcachedtest.Server) {
			for l, err := range cl.GetMultiLease(ctx, []string{"s0", "s1", "s2", "s3", "k"}) {
				require.NoError(t, errorsOf(err, l.Release()))
				break
			}
		},
	} {
		for _, kind := range []EngineKind{Auto, Poll} {
			t.Run(fmt.Sprint(name, kind), func(t *testing.T) {
				srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{RecordLimit: -1})
				cl, err := New([]string{srv.Addr()}, &Config{Engine: kind, ConnsPerServer: 1, OpTimeout: -1, StallLimit: -1, DirectReceive: 1})
				require.NoError(t, err)
				defer func() { require.NoError(t, cl.Close()) }()
				for _, k := range []string{"k", "l", "s0", "s1", "s2", "s3"} {
					it := Item{Key: k, Value: make([]byte, 8<<10)}
					if k == "k" || k == "l" {
						it.Value = make([]byte, size)
					}
					require.NoError(t, cl.Set(ctx, it))
				}
				var made atomic.Int64
				for i, room := range classRooms() {
					cl.lender.pools[i].New = func() any {
						made.Add(1)
						return &block{home: &cl.lender, mem: make([]byte, room), class: i}
					}
				}
				defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it empties pools
				procs := runtime.GOMAXPROCS(0)
				for range 20 * procs {
					f(t, cl, srv)
					require.NoError(t, cl.Ping(ctx)) // all has come, or there is a new connection
				}
				// Each processor may keep one of each class to itself.
				assert.NotZero(t, made.Load())
				assert.LessOrEqual(t, made.Load(), int64(8*procs), "of %d calls", 20*procs)
			})
		}
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
