package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// optionCalls is every kind of call that options have brought, on the item k, which is
// there. What they would tell goes to told.
func optionCalls(told *client.StoreOptions, counter *client.CounterOptions) map[string]func(context.Context, *client.Client) error {
	return map[string]func(context.Context, *client.Client) error{
		"inspect": func(ctx context.Context, c *client.Client) error { _, err := c.Inspect(ctx, "k"); return err },
		"get info": func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{Info: true, Touch: time.Hour, Hints: client.Hints{P: "p"}})
			return err
		},
		"get unless": func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{UnlessCAS: 1 << 40})
			return err
		},
		"set": func(ctx context.Context, c *client.Client) error {
			return c.Set(ctx, client.Item{Key: "k"}, *told)
		},
		"append": func(ctx context.Context, c *client.Client) error {
			o := *told
			o.Create = true
			return c.Append(ctx, client.Item{Key: "k", Value: []byte("more")}, o)
		},
		"invalidate": func(ctx context.Context, c *client.Client) error {
			return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true, TTL: time.Hour})
		},
		"increment": func(ctx context.Context, c *client.Client) error {
			_, err := c.Increment(ctx, "k", 1, nil, *counter)
			return err
		},
		"mg": metaCall("mg k v t"), "ms": metaCall("ms k T60"), "md": metaCall("md k I"), "ma": metaCall("ma k v"), "me": metaCall("me k"), "mn": metaCall("mn k"),
	}
}

func metaCall(line string) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error { _, err := c.Meta(ctx, metaOf(line)); return err }
}

// Each call that gives up, with its reply under way, leaves the connection in sync, and
// what it was to tell untouched.
func TestOptionsGivenUp(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{Version: "1.6.45"}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		cas, size, left := uint64(7), 7, time.Duration(7)
		told, counter := client.StoreOptions{StoredCAS: &cas, StoredSize: &size}, client.CounterOptions{CAS: &cas, TTL: &left}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "other", Value: []byte("other value")}, client.StoreOptions{StoredSize: new(int)}))
		for name, call := range optionCalls(&told, &counter) {
			for _, at := range []int{0, 2, 3} {
				require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("11")}))
				release := make(chan struct{})
				srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
					if r.Key == "other" {
						return memcachedtest.Answer()
					}
					return memcachedtest.Answer().StallAt(at, release)
				})
				before := srv.RequestCount()
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- call(ctx, c) }()
				require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > before }), name)
				cancel()
				err := <-done
				require.ErrorIs(t, err, context.Canceled, name)
				require.Equal(t, client.Unknown, opError(t, err).Outcome, name)
				close(release)
				srv.SetScript(nil)
				it, err := c.Get(patient(t), "other")
				require.NoError(t, err, name)
				require.Equal(t, "other value", string(it.Value))
				require.EqualValues(t, 7, cas, "told by a late reply")
				require.Equal(t, 7, size)
				require.EqualValues(t, 7, left)
			}
		}
		require.EqualValues(t, 1, c.Counters().Dials)
		require.Zero(t, c.Counters().Desyncs)
	})
}

// A reply that is not the request's own, or lacks what was asked for, is poison.
func TestOptionsDesync(t *testing.T) {
	faults := map[string]memcachedtest.Action{
		"wrong opaque": memcachedtest.Answer().WrongOpaque(),
		"garbage":      memcachedtest.Garbage(),
		"another kind": memcachedtest.Answer().Instead([]byte("STORED\r\n")),
		"a miss with a value": memcachedtest.Answer().Edit(func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "HD", "VA 0", 1) + "\r\n")
		}),
	}
	onScript(t, memcachedtest.ServerOptions{Version: "1.6.45"}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		told, counter := client.StoreOptions{StoredCAS: new(uint64), StoredSize: new(int)}, client.CounterOptions{CAS: new(uint64)}
		for fault, a := range faults {
			for name, call := range optionCalls(&told, &counter) {
				switch {
				case fault == "wrong opaque" && (name == "me" || name == "mn"): // they have none
				case fault == "a miss with a value" && (name == "get info" || name == "get unless" || name == "mg" || name == "ma" || name == "increment" || name == "me" || name == "mn"):
				default:
					srv.SetScript(nil)
					eventually(t, "a connection", func() bool {
						return c.Set(patient(t), client.Item{Key: "k", Value: []byte("11")}, client.StoreOptions{StoredSize: new(int)}) == nil
					})
					srv.SetScript(always(a))
					require.ErrorIs(t, call(patient(t), c), client.ErrDesync, "%s, %s", name, fault)
				}
			}
		}
	})
}

func TestLackingReplies(t *testing.T) {
	for _, p := range []struct {
		name, flag string
		call       func(context.Context, *client.Client) error
	}{
		{"TTL", "t", func(ctx context.Context, c *client.Client) error { _, err := c.Inspect(ctx, "k"); return err }},
		{"idle", "l", func(ctx context.Context, c *client.Client) error { _, err := c.Inspect(ctx, "k"); return err }},
		{"fetched", "h", func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{Info: true})
			return err
		}},
		{"CAS of a set", "c", func(ctx context.Context, c *client.Client) error {
			return c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{StoredCAS: new(uint64)})
		}},
		{"size", "s", func(ctx context.Context, c *client.Client) error {
			return c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{StoredSize: new(int)})
		}},
		{"CAS of a get unless", "c", func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{UnlessCAS: 1 << 40})
			return err
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Version: "1.6.45"})
			c := dial(t, nil, srv.Addr())
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("value")}))
			require.NoError(t, p.call(patient(t), c))
			srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Edit(func(b []byte) []byte {
				return []byte(strings.Replace(string(b), " "+p.flag, " _", 1)) // an unknown flag
			})))
			require.ErrorIs(t, p.call(patient(t), c), client.ErrDesync)
		})
	}
}

// What each combination of options cannot be answered with is poison.
func TestImpossibleRepliesToOptions(t *testing.T) {
	for _, p := range []struct {
		name, reply string
		call        func(context.Context, *client.Client) error
	}{
		{"inspect with a value", "VA 0 kk t0 h0 l0 O2\r\n\r\n", func(ctx context.Context, c *client.Client) error { _, err := c.Inspect(ctx, "k"); return err }},
		{"inspect exists", "EX\r\n", func(ctx context.Context, c *client.Client) error { _, err := c.Inspect(ctx, "k"); return err }},
		{"append not found", "NF\r\n", func(ctx context.Context, c *client.Client) error {
			return c.Append(ctx, client.Item{Key: "k"}, client.StoreOptions{IfCAS: 1})
		}},
		{"set exists", "EX\r\n", func(ctx context.Context, c *client.Client) error {
			return c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{NewCAS: 1})
		}},
		{"delete exists", "EX\r\n", func(ctx context.Context, c *client.Client) error {
			return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true})
		}},
		{"delete not stored", "NS\r\n", func(ctx context.Context, c *client.Client) error {
			return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true})
		}},
		{"increment exists", "EX\r\n", func(ctx context.Context, c *client.Client) error {
			_, err := c.Increment(ctx, "k", 1, nil, client.CounterOptions{Touch: 1})
			return err
		}},
		{"another value unchanged", "HD kk f0 c1099511627777 O3\r\n", func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{UnlessCAS: 1 << 40})
			return err
		}},
		{"mg exists", "EX\r\n", metaCall("mg k")},
		{"mg missing its value", "HD kk O2\r\n", metaCall("mg k v")},
		{"mg with a value", "VA 0 kk O2\r\n\r\n", metaCall("mg k")},
		{"ms exists", "EX\r\n", metaCall("ms k")},
		{"md not stored", "NS\r\n", metaCall("md k")},
		{"ma missed", "EN\r\n", metaCall("ma k")},
		{"me of another", "ME kk exp=-1\r\n", metaCall("me k")},
		{"mn missed", "EN\r\n", metaCall("mn")},
	} {
		t.Run(p.name, func(t *testing.T) {
			srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Version: "1.6.45"})
			c := dial(t, nil, srv.Addr())
			require.NoError(t, c.Ping(patient(t)))
			srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
				if r.Command == "version" {
					return memcachedtest.Answer()
				}
				return memcachedtest.Answer().Instead([]byte(p.reply))
			})
			require.ErrorIs(t, p.call(patient(t), c), client.ErrDesync)
		})
	}
}

// How the writes among them ended is told later.
func TestOptionsLateWrite(t *testing.T) {
	late := make(chan client.LateWrite, 10)
	cfg := client.Config{ConnsPerServer: 1, LateWrite: func(l client.LateWrite) { late <- l }}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("1")}))
		release := make(chan struct{})
		srv.SetScript(func(memcachedtest.Request) memcachedtest.Action { return memcachedtest.Answer().Stall(release) })
		for _, p := range []struct {
			op   string
			want error
			call func(context.Context) error
		}{
			{"set", client.ErrConflict, func(ctx context.Context) error {
				return c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{IfCAS: 1 << 40})
			}},
			{"delete", nil, func(ctx context.Context) error {
				return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true})
			}},
			{"meta", client.ErrNotFound, func(ctx context.Context) error { return metaCall("md none")(ctx, c) }},
			{"meta", nil, func(ctx context.Context) error { return metaCall("mg k v")(ctx, c) }}, // reads are not told
			{"meta", nil, func(ctx context.Context) error { return metaCall("ma k")(ctx, c) }},
		} {
			before := srv.RequestCount()
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- p.call(ctx) }()
			require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > before }))
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
		}
		close(release)
		var got []string
		for range 4 {
			l := <-late
			err := "done"
			if l.Err != nil {
				err = opError(t, l.Err).Err.Error()
			}
			got = append(got, l.Op+" "+l.Key+": "+err)
		}
		require.ElementsMatch(t, []string{"set k: CAS conflict", "delete k: done", "meta none: not found", "meta k: done"}, got)
		require.Empty(t, late)
	})
}
