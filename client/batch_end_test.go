package client_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A server that is down, or goes down in the middle, costs its own items only.
func TestBatchDeadServer(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, mcs []*memcachedtest.Process) {
		keys := keysOf("dead-%d", 3000)
		require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)))
		require.NoError(t, mcs[1].Stop())
		for range 2 { // while the connection ends, and while there is none
			set := batchError(t, c.SetMulti(patient(t), itemsOf(keys)))
			deleted := batchError(t, c.DeleteMulti(patient(t), keys))
			n := 0
			for i := range keys {
				require.Equal(t, set.Errs[i] != nil, deleted.Errs[i] != nil, "%v %v", set.Errs[i], deleted.Errs[i])
				if err := set.Errs[i]; err != nil {
					require.Equal(t, mcs[1].Addr(), opError(t, err).Server)
					n++
				}
			}
			require.InDelta(t, 1000, n, 400)
			require.ErrorIs(t, deleted, client.ErrUnavailable)
			require.True(t, client.SafeToRetry(deleted))
			require.Less(t, len(deleted.Error()), 500)
			require.False(t, strings.Contains(deleted.Error(), "dead-"))
		}
	})
}

// A connection that ends in the middle of a batch: what the server had not been sent
// goes over another one, in the same order, and only what it had is unknown.
func TestBatchOnBrokenConnection(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{RecordLimit: -1, Script: func(r memcachedtest.Request) memcachedtest.Action {
			// What it has read behind the 100th, a busy machine may carry out after all else.
			if r.Conn <= 2 && r.Seq >= 100 {
				return memcachedtest.Missing().Unexecuted().Reset()
			}
			return memcachedtest.Answer()
		}})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1}, srv.Addr())
		var items []client.Item
		for i := range 1000 {
			items = append(items, client.Item{Key: fmt.Sprint("k", i%10), Value: fmt.Append(nil, i)})
		}
		b := batchError(t, c.SetMulti(patient(t), items))
		unknown := failures(b)
		require.GreaterOrEqual(t, unknown, 2)
		require.LessOrEqual(t, unknown, 2*48, "no more than a window for each connection")
		for _, err := range b.Errs {
			if err != nil {
				require.ErrorIs(t, err, client.ErrConnLost)
				require.Equal(t, client.Unknown, opError(t, err).Outcome)
			}
		}
		for i := range 10 { // the last store of each key is the one that counts
			it, err := c.Get(patient(t), fmt.Sprint("k", i))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(990+i), string(it.Value))
		}
	})
}

// A call that ends in the middle leaves the connections open and in sync, and nobody
// else notices.
func TestBatchGivenUp(t *testing.T) {
	for name, call := range map[string]func(context.Context, *client.Client, []string) error{
		"set": func(ctx context.Context, c *client.Client, keys []string) error {
			return c.SetMulti(ctx, itemsOf(keys))
		},
		"delete": func(ctx context.Context, c *client.Client, keys []string) error { return c.DeleteMulti(ctx, keys) },
		"touch": func(ctx context.Context, c *client.Client, keys []string) error {
			return c.TouchMulti(ctx, keys, time.Hour)
		},
		"get": func(ctx context.Context, c *client.Client, keys []string) (last error) {
			for _, err := range c.GetMulti(ctx, keys, client.GetOptions{NoBump: true}) {
				last = err
			}
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			late := make(chan client.LateWrite, 10_000)
			cfg := client.Config{LateWrite: func(l client.LateWrite) { late <- l }}
			onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				keys := keysOf("given-up-%d", 1000)
				require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)))
				release := make(chan struct{})
				before := asked(srv, keys[500])
				srv.SetScript(memcachedtest.OnKey(keys[500], memcachedtest.Answer().Stall(release)))
				ctx, cancel := context.WithCancel(context.Background())
				go func() {
					_ = srv.Wait(patient(t), func() bool { return asked(srv, keys[500]) > before })
					cancel()
				}()
				err := call(ctx, c, keys)
				require.ErrorIs(t, err, context.Canceled)
				unknown := map[string]bool{}
				if name != "get" {
					b := batchError(t, err)
					for i, err := range b.Errs {
						if err == nil {
							continue
						}
						require.ErrorIs(t, err, context.Canceled)
						if opError(t, err).Outcome == client.Unknown {
							unknown[keys[i]] = true
						}
					}
					require.True(t, unknown[keys[500]])
					require.Equal(t, client.NotSent, opError(t, b.Errs[999]).Outcome)
				}
				srv.SetScript(nil)
				close(release)
				require.LessOrEqual(t, len(unknown), 256+32, "no more than a window")
				for range len(unknown) {
					l := <-late
					require.Equal(t, name, l.Op)
					require.True(t, unknown[l.Key], "%s", l.Key)
					delete(unknown, l.Key)
					require.NoError(t, l.Err)
				}
				require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)))
				mustHold(t, c, keys, never)
				n := c.Counters()
				assert.Zero(t, n.Losses)
				assert.Zero(t, n.Desyncs)
				eventually(t, "all late replies come", func() bool {
					v := c.Counters().Servers[srv.Addr()]
					return v.Timeouts == v.LateReplies
				})
			})
		})
	}
}

// OpTimeout does not bound a batch that goes on, and ends what a server that stalls
// has to do, while the other servers go on.
func TestBatchPatience(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		const patience = time.Second
		slow := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Script: memcachedtest.OnCommand("ms", memcachedtest.Answer().Delay(150*time.Millisecond)),
		})
		stalls := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Script: memcachedtest.OnCommand("ms", memcachedtest.Answer().Stall(nil)),
		})
		cfg := &client.Config{Engine: kind, OpTimeout: patience, ConnsPerServer: 1, Selector: func([]string) client.Selector { return byPrefix{} }}
		c := dial(t, cfg, slow.Addr(), stalls.Addr())
		var items []client.Item
		for i := range 500 { // more than ten windows
			items = append(items, client.Item{Key: fmt.Sprint("a", i)}, client.Item{Key: fmt.Sprint("b", i)})
		}
		b := batchError(t, c.SetMulti(context.Background(), items))
		for i, err := range b.Errs {
			if i%2 == 0 {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, client.ErrTimeout)
				require.Equal(t, stalls.Addr(), opError(t, err).Server)
			}
		}
	})
}

// asked is how many requests for a key the server has seen.
func asked(srv *memcachedtest.Server, key string) (n int) {
	for _, r := range srv.Requests() {
		if r.Key == key {
			n++
		}
	}
	return n
}

// Close ends a batch.
func TestCloseInBatch(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		keys := keysOf("closed-%d", 1000)
		srv.SetScript(memcachedtest.OnKey(keys[500], memcachedtest.Answer().Stall(nil)))
		done := make(chan error)
		go func() { done <- c.SetMulti(context.Background(), itemsOf(keys)) }()
		require.NoError(t, srv.Wait(patient(t), func() bool { return asked(srv, keys[500]) > 0 }))
		require.NoError(t, c.Close())
		b := batchError(t, <-done)
		require.ErrorIs(t, b, client.ErrClosed)
		require.Equal(t, client.Unknown, opError(t, b.Errs[500]).Outcome)
		require.Equal(t, client.NotSent, opError(t, b.Errs[999]).Outcome)
		err := c.DeleteMulti(context.Background(), keys)
		require.ErrorIs(t, err, client.ErrClosed)
		require.True(t, client.SafeToRetry(err))
		var batch client.Batch
		r := batch.Get("k")
		require.ErrorIs(t, c.Do(context.Background(), &batch), client.ErrClosed)
		require.ErrorIs(t, r.Err(), client.ErrClosed)
	})
}

// Of a run that was given up, and whose connection then breaks, each key without an
// answer is reported as one of which it will never be known.
func TestLateRunIsLost(t *testing.T) {
	late := make(chan client.LateWrite, 100)
	cfg := client.Config{LateWrite: func(l client.LateWrite) { late <- l }}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		srv.SetScript(memcachedtest.OnKey("k3", memcachedtest.Answer().Stall(nil)))
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_ = srv.Wait(patient(t), func() bool { return asked(srv, "k3") > 0 })
			cancel()
		}()
		b := batchError(t, c.DeleteMulti(ctx, keysOf("k%d", 10)))
		unknown := 0
		for _, err := range b.Errs {
			if err != nil && opError(t, err).Outcome == client.Unknown {
				unknown++
			}
		}
		require.GreaterOrEqual(t, unknown, 7)
		srv.CloseConns()
		for range unknown {
			l := <-late
			require.Equal(t, "delete", l.Op)
			if l.Key == "k0" || l.Key == "k1" || l.Key == "k2" {
				continue // whose replies may have come before or after the call had ended
			}
			require.ErrorIs(t, l.Err, client.ErrConnLost, "%s", l.Key)
			require.Equal(t, client.Unknown, opError(t, l.Err).Outcome)
		}
		require.Empty(t, late)
	})
}
