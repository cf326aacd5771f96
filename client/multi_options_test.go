package client_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Keys that gets cannot carry, among others, come back as they were asked for.
func TestBinaryMulti(t *testing.T) {
	onSockets(t, func(t *testing.T, plain *client.Client, mc *memcachedtest.Process) {
		c := dial(t, &client.Config{OpTimeout: 20 * time.Second, KeyPrefix: "p:", BinaryKeys: true}, mc.Addr())
		for name, key := range map[string]func(i int) string{
			"all": func(i int) string { return fmt.Sprintf("%d \x00\r\n%s", i, strings.Repeat("\xff", i%100)) },
			"some": func(i int) string {
				return []string{fmt.Sprint("plain", i), fmt.Sprint("bin ", i)}[min(i%5, 1)]
			},
			"few": func(i int) string { return []string{fmt.Sprint("P", i), fmt.Sprint("B ", i)}[min(i%97, 1)^1] },
		} {
			keys := make([]string, 1000)
			for i := range keys {
				keys[i] = key(i)
			}
			require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)), name)
			var gone []string
			for i := 0; i < len(keys); i += 4 {
				gone = append(gone, keys[i])
			}
			require.NoError(t, c.DeleteMulti(patient(t), gone))
			mustHold(t, c, keys, func(i int) bool { return i%4 == 0 })
			err := c.TouchMulti(patient(t), keys, time.Hour)
			require.Equal(t, 250, failures(batchError(t, err)))
			require.NoError(t, client.Except(err, client.ErrNotFound))
		}
		require.Zero(t, c.Counters().Losses)
		// What is stored under a plain key comes back plain, though asked for as binary.
		require.NoError(t, plain.Set(patient(t), client.Item{Key: "p:twins", Value: []byte("v")}))
		mustBe := map[string]string{"twins": "v"}
		for it, err := range c.GetMulti(patient(t), []string{"twins", "a b"}) {
			require.NoError(t, err)
			require.Equal(t, mustBe[it.Key], string(it.Value))
		}
	})
}

// What is asked for beside the values, is asked for of each key.
func TestGetMultiOptions(t *testing.T) {
	onServers(t, 2, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		for leased, get := range map[bool]func(context.Context, []string, ...client.GetOptions) iter.Seq2[client.Lease, error]{
			false: func(ctx context.Context, keys []string, opts ...client.GetOptions) iter.Seq2[client.Lease, error] {
				return func(yield func(client.Lease, error) bool) {
					for it, err := range c.GetMulti(ctx, keys, opts...) {
						if !yield(client.Lease{Item: it}, err) {
							return
						}
					}
				}
			},
			true: c.GetMultiLease,
		} {
			keys := keysOf(fmt.Sprint("opt", leased, "-%d"), 200)
			fill(t, c, keys, 2)
			collect := func(opts client.GetOptions) map[string]client.Lease {
				got := make(map[string]client.Lease)
				for l, err := range get(patient(t), keys, opts) {
					require.NoError(t, err)
					require.NotContains(t, got, l.Key)
					if len(l.Value) > 0 {
						require.Equal(t, string(valueOf(l.Key)), string(l.Value))
					}
					got[l.Key] = l
					require.NoError(t, l.Release())
				}
				return got
			}
			require.Len(t, collect(client.GetOptions{NoBump: true}), 100)
			require.Len(t, collect(client.GetOptions{Touch: time.Minute}), 100)
			for _, want := range []client.State{client.Won, client.Claimed} {
				got := collect(client.GetOptions{Vivify: time.Minute})
				require.Len(t, got, 200, "with Vivify there is no miss")
				for i, k := range keys {
					require.Equal(t, []client.State{0, want}[i%2], got[k].State)
				}
			}
			for i, k := range keys { // the touch holds: less than two minutes are left
				it, err := c.Get(patient(t), k, client.GetOptions{Recache: 2 * time.Minute})
				require.NoError(t, err)
				require.Equal(t, []client.State{client.Won, client.Claimed}[i%2], it.State)
			}
			for _, err := range get(patient(t), keys, client.GetOptions{}, client.GetOptions{}) {
				require.ErrorIs(t, err, client.ErrArgument)
				require.Equal(t, keys, opError(t, err).Keys)
			}
		}
	})
}

// Leaving a loop over runs early keeps the connections open and in sync.
func TestGetMultiRunsBreak(t *testing.T) {
	onServers(t, 2, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		keys := keysOf("break-%d", 300)
		fill(t, c, keys, 1)
		for i := range 50 {
			n := 0
			for l, err := range c.GetMultiLease(patient(t), keys, client.GetOptions{NoBump: true}) {
				require.NoError(t, err)
				require.Equal(t, string(valueOf(l.Key)), string(l.Value))
				require.NoError(t, l.Release())
				if n++; n > i {
					break
				}
			}
			it, err := c.Get(patient(t), keys[i])
			require.NoError(t, err)
			require.Equal(t, string(valueOf(keys[i])), string(it.Value))
		}
		n := c.Counters()
		require.Zero(t, n.Losses)
		require.Zero(t, n.Desyncs)
	})
}

// A reply that is not the run's poisons the connection.
func TestRunDesync(t *testing.T) {
	for name, a := range map[string]memcachedtest.Action{
		"opaque": memcachedtest.Answer().WrongOpaque(), "twice": memcachedtest.Answer().Twice(), "swapped": memcachedtest.Answer().Swap(),
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				srv.SetScript(memcachedtest.OnKey("none-5", a))
				for _, call := range []func([]string) error{
					func(keys []string) error { return c.DeleteMulti(patient(t), keys) },
					func(keys []string) error { return c.TouchMulti(patient(t), keys, 0) },
				} {
					require.NoError(t, c.Set(patient(t), client.Item{Key: "first"})) // a connection that was never answered is penalized
					b := batchError(t, call(keysOf("none-%d", 10)))
					for i, err := range b.Errs[:5] {
						require.ErrorIs(t, err, client.ErrNotFound, "%d", i)
					}
					if name == "opaque" {
						require.Equal(t, client.Unknown, opError(t, b.Errs[5]).Outcome)
					}
					require.ErrorIs(t, b, client.ErrDesync)
					require.Equal(t, client.Unknown, opError(t, b.Errs[9]).Outcome)
				}
			})
		})
	}
}

// A server that does not tell its version when it is asked, which options may need,
// keeps the others' keys from nobody.
func TestGetMultiVersionBesideStalled(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		stalls := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Script: memcachedtest.OnCommand("version", memcachedtest.Answer().Stall(nil)),
		})
		answers := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
		cfg := &client.Config{Engine: kind, OpTimeout: -1, Selector: func([]string) client.Selector { return byPrefix{} }}
		c := dial(t, cfg, stalls.Addr(), answers.Addr())
		hinted := client.GetOptions{Hints: client.Hints{P: "p"}}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "a"}))
		require.NoError(t, c.Set(patient(t), client.Item{Key: "b", Value: []byte("value")}))
		for it, err := range c.GetMulti(patient(t), []string{"a", "b"}, hinted) {
			require.NoError(t, err)
			require.Equal(t, "value", string(it.Value))
			break
		}
		var b client.Batch
		lost, got := b.Get("a", hinted), b.Get("b", hinted)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		before := answers.RequestCount()
		go func() { done <- c.Do(ctx, &b) }()
		require.NoError(t, answers.Wait(patient(t), func() bool { return answers.RequestCount() > before }))
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.ErrorIs(t, lost.Err(), context.Canceled)
		require.Equal(t, client.NotSent, opError(t, lost.Err()).Outcome)
		if it, err := got.Item(); err == nil { // the reply may have come too late
			require.Equal(t, "value", string(it.Value))
		}
	})
}
