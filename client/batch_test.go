package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// itemsOf makes an item for each key, with a value by the key.
func itemsOf(keys []string) []client.Item {
	items := make([]client.Item, len(keys))
	for i, k := range keys {
		items[i] = client.Item{Key: k, Value: valueOf(k), Flags: uint32(i)}
	}
	return items
}

func batchError(t testing.TB, err error) *client.BatchError {
	t.Helper()
	var b *client.BatchError
	require.Truef(t, errors.As(err, &b), "%T %v is no *BatchError", err, err)
	return b
}

// mustHold checks that all keys have the values of itemsOf, or have none.
func mustHold(t testing.TB, c *client.Client, keys []string, gone func(i int) bool) {
	t.Helper()
	got := make(map[string]client.Item)
	for it, err := range c.GetMulti(patient(t), keys) {
		require.NoError(t, err)
		got[it.Key] = it
	}
	for i, k := range keys {
		it, ok := got[k]
		require.Equal(t, !gone(i), ok, "%s", k)
		if ok {
			require.True(t, bytes.Equal(valueOf(k), it.Value), "%s", k)
		}
	}
}

func never(int) bool { return false }

func TestSetDeleteTouchMulti(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " servers"), func(t *testing.T) {
			onServers(t, n, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
				for _, count := range []int{0, 1, 20, 3000} {
					keys := keysOf(fmt.Sprint("b", count, "-%d"), count)
					require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)))
					mustHold(t, c, keys, never)
					require.NoError(t, c.TouchMulti(patient(t), keys, time.Hour))
					var some []string
					for i := 0; i < count; i += 3 {
						some = append(some, keys[i])
					}
					require.NoError(t, c.DeleteMulti(patient(t), some))
					mustHold(t, c, keys, func(i int) bool { return i%3 == 0 })
					for what, err := range map[string]error{
						"touch multi":  c.TouchMulti(patient(t), keys, 0),
						"delete multi": c.DeleteMulti(patient(t), keys),
					} {
						if count == 0 {
							require.NoError(t, err)
							continue
						}
						b := batchError(t, err)
						require.Equal(t, what, b.Op)
						require.Len(t, b.Errs, count)
						for i, err := range b.Errs {
							if i%3 == 0 {
								require.ErrorIs(t, err, client.ErrNotFound, "%s %d", what, i)
								require.NotEmpty(t, opError(t, err).Server)
							} else if what == "touch multi" || count == 1 {
								require.NoError(t, err)
							}
						}
						require.NoError(t, client.Except(err, client.ErrNotFound))
						require.Error(t, client.Except(err, client.ErrConflict))
						require.False(t, client.SafeToRetry(err))
					}
				}
				require.NoError(t, c.SetMulti(patient(t), nil))
				require.NoError(t, c.DeleteMulti(patient(t), nil))
				require.NoError(t, c.Do(patient(t), nil))
				n := c.Counters()
				require.Zero(t, n.Losses)
				require.Zero(t, n.Timeouts)
			})
		})
	}
}

// What one item does wrong costs no other anything.
func TestSetMultiRefusals(t *testing.T) {
	onServers(t, 2, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		keys := keysOf("refused-%d", 500)
		items := itemsOf(keys)
		bad := map[int]error{7: client.ErrTooLarge, 100: client.ErrKey, 101: client.ErrTTL, 102: client.ErrKey, 499: client.ErrTooLarge}
		items[7].Value = make([]byte, 3<<20)
		items[499].Value = make([]byte, 2<<20)
		items[100].Key = "a b"
		items[101].TTL = -1
		items[102].Key = ""
		err := c.SetMulti(patient(t), items)
		b := batchError(t, err)
		for i, err := range b.Errs {
			if want, ok := bad[i]; ok {
				require.ErrorIs(t, err, want)
				require.ErrorIs(t, b, want)
				require.NotContains(t, err.Error(), "refused-")
				require.Equal(t, i != 7 && i != 499, client.SafeToRetry(err), "those two were sent")
			} else {
				require.NoError(t, err, "%d", i)
			}
		}
		require.Contains(t, err.Error(), "memring: set multi: 5 of 500 failed: ")
		mustHold(t, c, keys, func(i int) bool { return bad[i] != nil })
		require.Zero(t, c.Counters().Losses)
	})
}

func TestBatchErrorText(t *testing.T) {
	var errs []error
	for i := range 20 {
		errs = append(errs, &client.OpError{Op: "set", Server: fmt.Sprint("server", i%5), Err: client.ErrTimeout, Outcome: client.Unknown})
	}
	errs[0], errs[1] = nil, nil
	err := &client.BatchError{Op: "set multi", Errs: errs}
	require.EqualError(t, err, "memring: set multi: 18 of 20 failed: 4 × set server2: timeout (outcome unknown); "+
		"4 × set server3: timeout (outcome unknown); 4 × set server4: timeout (outcome unknown); and 2 other causes")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, client.SafeToRetry(err))
	require.Len(t, err.Unwrap(), 18)
}

// All kinds of requests, in the order in which they were added, also those for one
// key.
func TestBatch(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		var b client.Batch
		ctx := patient(t)
		for round := range 3 { // it can be used again
			var checks []func()
			for i := range 200 {
				k := fmt.Sprint("mixed-", round, "-", i)
				want := func(r interface{ Err() error }, err error) func() {
					require.ErrorIs(t, r.Err(), client.ErrArgument, "not yet")
					return func() { require.ErrorIs(t, r.Err(), err) }
				}
				miss := b.Get(k)
				checks = append(checks,
					want(miss, client.ErrNotFound),
					want(b.Set(client.Item{Key: k, Value: []byte("1"), Flags: uint32(i)}), nil),
					want(b.Add(client.Item{Key: k, Value: []byte("2")}), client.ErrNotStored),
					want(b.Append(client.Item{Key: k, Value: []byte("0")}), nil),
					want(b.Prepend(client.Item{Key: k, Value: []byte("3")}), nil),
				)
				ten, hit := b.Increment(k, 10, nil), b.Get(k)
				made := b.Decrement(k+"n", 1, &client.Counter{Value: 7})
				checks = append(checks,
					want(b.Increment(k+"none", 1, nil), client.ErrNotFound),
					want(b.CompareAndSwap(client.Item{Key: k, CAS: 1 << 60}), client.ErrConflict),
					want(b.CompareAndSwap(client.Item{Key: k}), client.ErrArgument),
					want(b.Touch(k, time.Hour), nil),
					want(b.Touch(k, -time.Hour), client.ErrTTL),
					want(b.Replace(client.Item{Key: k, Value: []byte("x")}), nil),
					want(b.Increment(k, 1, nil), client.ErrNotNumber),
					want(b.Delete(k), nil),
					want(b.Delete(k), client.ErrNotFound),
					want(b.Get("a b"), client.ErrKey),
					want(b.Get(k, client.GetOptions{Recache: -1}), client.ErrArgument),
					func() {
						n, err := ten.Count()
						require.NoError(t, err)
						require.EqualValues(t, 320, n)
						n, err = made.Count()
						require.NoError(t, err)
						require.EqualValues(t, 7, n)
						it, err := hit.Item()
						require.NoError(t, err)
						require.Equal(t, k, it.Key)
						require.Equal(t, "320", string(it.Value))
						require.EqualValues(t, i, it.Flags)
						require.NotZero(t, it.CAS)
						it, err = miss.Item()
						require.ErrorIs(t, err, client.ErrNotFound)
						require.Zero(t, it)
					})
			}
			require.Equal(t, 200*19, b.Len())
			err := c.Do(ctx, &b)
			require.Zero(t, b.Len())
			require.Equal(t, 200*10, failures(batchError(t, err)))
			for _, check := range checks {
				check()
			}
		}
		require.Zero(t, c.Counters().Losses)
	})
}

func failures(b *client.BatchError) (n int) {
	for _, err := range b.Errs {
		if err != nil {
			n++
		}
	}
	return n
}

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
