package client_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Each store with a CAS to compare with, that of the item or another.
func TestStoreIfCAS(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		for name, p := range map[string]struct {
			store  func(context.Context, client.Item, ...client.StoreOptions) error
			after  string
			absent error
		}{
			"set":     {c.Set, "x", client.ErrNotFound},
			"replace": {c.Replace, "x", client.ErrNotFound},
			"append":  {c.Append, "oldx", client.ErrNotStored},
			"prepend": {c.Prepend, "xold", client.ErrNotStored},
		} {
			var cas, next uint64
			require.NoError(t, c.Set(patient(t), client.Item{Key: name, Value: []byte("old")}, client.StoreOptions{StoredCAS: &cas}))
			it := client.Item{Key: name, Value: []byte("x")}
			err := p.store(patient(t), it, client.StoreOptions{IfCAS: cas + 1, StoredCAS: &next})
			require.ErrorIs(t, err, client.ErrConflict, name)
			require.Zero(t, next, "nothing was stored")
			got, err := c.Get(patient(t), name)
			require.NoError(t, err)
			require.Equal(t, "old", string(got.Value))
			require.Equal(t, cas, got.CAS, "StoredCAS has told the item's")
			require.NoError(t, p.store(patient(t), it, client.StoreOptions{IfCAS: cas, StoredCAS: &next}), name)
			got, err = c.Get(patient(t), name)
			require.NoError(t, err)
			require.Equal(t, p.after, string(got.Value))
			require.Equal(t, next, got.CAS)
			it.Key = "absent"
			require.ErrorIs(t, p.store(patient(t), it, client.StoreOptions{IfCAS: 5}), p.absent, name)
		}
		var cas uint64
		require.NoError(t, c.Add(patient(t), client.Item{Key: "added"}, client.StoreOptions{StoredCAS: &cas, Hints: client.Hints{P: "p"}}))
		require.NoError(t, c.CompareAndSwap(patient(t), client.Item{Key: "added", CAS: cas}, client.StoreOptions{StoredCAS: &cas}))
		it, err := c.Get(patient(t), "added")
		require.NoError(t, err)
		require.Equal(t, cas, it.CAS)
	})
}

// Whoever stores with the CAS from before an invalidation stores a stale item.
func TestStaleLifeCycle(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		var old, cas uint64
		set := func(value string, ttl time.Duration) {
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte(value), TTL: ttl}, client.StoreOptions{StoredCAS: &cas}))
		}
		is := func(state client.State, value string, ttl time.Duration) uint64 {
			t.Helper()
			it, err := c.Get(patient(t), "k", client.GetOptions{Info: true})
			require.NoError(t, err)
			require.Equal(t, state, it.State)
			require.Equal(t, value, string(it.Value))
			nearly(t, ttl, it.Info.TTL)
			return it.CAS
		}
		set("v1", time.Hour)
		old = cas
		require.ErrorIs(t, c.Delete(patient(t), "k", client.DeleteOptions{Invalidate: true, IfCAS: cas + 1}), client.ErrConflict)
		is(0, "v1", time.Hour)
		require.NoError(t, c.Delete(patient(t), "k", client.DeleteOptions{Invalidate: true, IfCAS: cas, TTL: time.Minute}))
		won := is(client.Won|client.Stale, "v1", time.Minute)
		require.Greater(t, won, old)
		is(client.Claimed|client.Stale, "v1", time.Minute)

		// Who had read it before comes too late, or stores what is stale at once.
		late := client.Item{Key: "k", Value: []byte("late"), CAS: old, TTL: time.Hour}
		require.ErrorIs(t, c.CompareAndSwap(patient(t), late), client.ErrConflict)
		require.NoError(t, c.CompareAndSwap(patient(t), late, client.StoreOptions{StaleIfOlder: true}))
		is(client.Claimed|client.Stale, "late", time.Minute)
		require.NoError(t, c.Set(patient(t), late, client.StoreOptions{StaleIfOlder: true, IfCAS: old}))
		require.NoError(t, c.Replace(patient(t), late, client.StoreOptions{StaleIfOlder: true, IfCAS: old}))
		now := is(client.Claimed|client.Stale, "late", time.Minute)
		require.ErrorIs(t, c.Set(patient(t), late, client.StoreOptions{StaleIfOlder: true, IfCAS: now + 1}), client.ErrConflict, "newer than the item's")

		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v2"), TTL: time.Hour}, client.StoreOptions{IfCAS: now}))
		is(0, "v2", time.Hour)

		// Without a TTL an invalidated item keeps its own; a second one is stale anew.
		require.NoError(t, c.Delete(patient(t), "k", client.DeleteOptions{Invalidate: true}))
		is(client.Won|client.Stale, "v2", time.Hour)
		require.NoError(t, c.Delete(patient(t), "k", client.DeleteOptions{Invalidate: true, TTL: -1}))
		it, err := c.Inspect(patient(t), "k")
		require.NoError(t, err)
		require.Equal(t, client.Won|client.Stale, it.State)
		require.Negative(t, it.Info.TTL)
		require.ErrorIs(t, c.Delete(patient(t), "k", client.DeleteOptions{IfCAS: it.CAS + 1}), client.ErrConflict)
		require.NoError(t, c.Delete(patient(t), "k", client.DeleteOptions{IfCAS: it.CAS, Hints: client.Hints{L: "p"}}))
		for _, d := range []client.DeleteOptions{{}, {IfCAS: 1}, {Invalidate: true}} {
			require.ErrorIs(t, c.Delete(patient(t), "k", d), client.ErrNotFound)
		}
	})
}

// Append and Prepend that make the item, on servers that know how and on others.
func checkCreate(t *testing.T, c *client.Client) {
	create := client.StoreOptions{Create: true}
	for key, p := range map[string]struct {
		store func(context.Context, client.Item, ...client.StoreOptions) error
		after string
	}{"append": {c.Append, "ab"}, "prepend": {c.Prepend, "ba"}} {
		var cas uint64
		create.StoredCAS = &cas
		require.NoError(t, p.store(patient(t), client.Item{Key: key, Value: []byte("a"), Flags: 5, TTL: time.Hour}, create))
		it, err := c.Get(patient(t), key, client.GetOptions{Info: true})
		require.NoError(t, err)
		require.Equal(t, "a", string(it.Value))
		require.EqualValues(t, 5, it.Flags)
		require.Equal(t, cas, it.CAS)
		nearly(t, time.Hour, it.Info.TTL)
		require.NoError(t, p.store(patient(t), client.Item{Key: key, Value: []byte("b"), Flags: 6, TTL: time.Minute}, create))
		it, err = c.Get(patient(t), key, client.GetOptions{Info: true})
		require.NoError(t, err)
		require.Equal(t, p.after, string(it.Value))
		require.EqualValues(t, 5, it.Flags)
		require.Equal(t, cas, it.CAS)
		nearly(t, time.Hour, it.Info.TTL)
		require.NoError(t, p.store(patient(t), client.Item{Key: key + "-ever", Value: []byte("a")}, create))
		it, err = c.Inspect(patient(t), key+"-ever")
		require.NoError(t, err)
		require.Negative(t, it.Info.TTL)
	}
	require.Zero(t, c.Counters().Losses)
}

func TestAppendCreates(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) { checkCreate(t, c) })
	for _, version := range []string{"1.6.19", "1.6.20"} {
		onScript(t, memcachedtest.ServerOptions{Version: version}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			checkCreate(t, c)
			for _, r := range srv.Requests() {
				if _, has := r.Flag('N'); has && r.Command == "ms" {
					require.Equal(t, "1.6.20", version, "an older one would have passed it over")
				}
			}
		})
	}
}

// An old server has others between the append and the add: the value is there once.
func TestAppendCreatesInARace(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		other := dialOther(t, srv)
		var appends atomic.Int32
		changed := make(chan error, 10)
		srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
			if r.Key != "k" {
				return memcachedtest.Answer()
			}
			// Others store before each of our two adds, and delete before the second append.
			switch mode, _ := r.Flag('M'); mode {
			case "E":
				changed <- other.Set(patient(t), client.Item{Key: "k", Value: []byte("theirs ")})
			case "A":
				if appends.Add(1) == 2 {
					changed <- other.Delete(patient(t), "k")
				}
			}
			return memcachedtest.Answer()
		})
		require.NoError(t, c.Append(patient(t), client.Item{Key: "k", Value: []byte("ours")}, client.StoreOptions{Create: true}))
		for range 3 {
			require.NoError(t, <-changed)
		}
		require.Empty(t, changed)
		it, err := c.Get(patient(t), "k")
		require.NoError(t, err)
		require.Equal(t, "theirs ours", string(it.Value))
		var modes string
		for _, r := range srv.Requests() {
			if m, has := r.Flag('M'); has {
				modes += m
			}
		}
		require.Equal(t, "AEAEA", modes)
	})
}

func TestBadStoreOptions(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	c := dial(t, nil, srv.Addr())
	it := client.Item{Key: "k", CAS: 1}
	bad := func(f func(context.Context, client.Item, ...client.StoreOptions) error, opts ...client.StoreOptions) {
		t.Helper()
		err := f(patient(t), it, opts...)
		require.ErrorIs(t, err, client.ErrArgument)
		require.True(t, client.SafeToRetry(err))
	}
	bad(c.Set, client.StoreOptions{}, client.StoreOptions{})
	bad(c.Set, client.StoreOptions{StaleIfOlder: true})
	bad(c.Set, client.StoreOptions{Create: true})
	bad(c.Set, client.StoreOptions{Hints: client.Hints{P: "a b"}})
	bad(c.Add, client.StoreOptions{IfCAS: 1})
	bad(c.Add, client.StoreOptions{Create: true})
	bad(c.Append, client.StoreOptions{IfCAS: 1, StaleIfOlder: true})
	bad(c.Append, client.StoreOptions{IfCAS: 1, Create: true})
	bad(c.CompareAndSwap, client.StoreOptions{IfCAS: 1})
	for _, d := range []client.DeleteOptions{{TTL: 1}, {NewCAS: 1}, {DropValue: true}, {Hints: client.Hints{L: "\r\n"}}} {
		require.ErrorIs(t, c.Delete(patient(t), "k", d), client.ErrArgument)
		require.ErrorIs(t, c.Touch(patient(t), "k", 0, d.Hints, d.Hints), client.ErrArgument)
	}
	require.ErrorIs(t, c.Delete(patient(t), "k", client.DeleteOptions{}, client.DeleteOptions{}), client.ErrArgument)
	require.ErrorIs(t, c.Delete(patient(t), "k", client.DeleteOptions{Invalidate: true, TTL: 1 << 62}), client.ErrTTL)
	for _, o := range [][]client.CounterOptions{{{}, {}}, {{Hints: client.Hints{L: "\r\n"}}}} {
		_, err := c.Increment(patient(t), "k", 1, nil, o...)
		require.ErrorIs(t, err, client.ErrArgument)
	}
	_, err := c.Decrement(patient(t), "k", 1, nil, client.CounterOptions{Touch: 1 << 62})
	require.ErrorIs(t, err, client.ErrTTL)
	require.ErrorIs(t, c.Touch(patient(t), "k", 0, client.Hints{P: "a b"}), client.ErrArgument)
	require.Empty(t, srv.Requests())
}

func TestCounterOptions(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		var cas uint64
		var left time.Duration
		tell := client.CounterOptions{CAS: &cas, TTL: &left}
		_, err := c.Increment(patient(t), "n", 5, nil, tell)
		require.ErrorIs(t, err, client.ErrNotFound)
		require.Zero(t, cas)
		n, err := c.Increment(patient(t), "n", 5, &client.Counter{Value: 100, TTL: time.Hour}, tell)
		require.NoError(t, err)
		require.EqualValues(t, 100, n, "what is made has its first value")
		nearly(t, time.Hour, left)
		it, err := c.Inspect(patient(t), "n")
		require.NoError(t, err)
		require.Equal(t, it.CAS, cas)
		nearly(t, time.Hour, it.Info.TTL)

		tell.IfCAS = cas + 1
		_, err = c.Decrement(patient(t), "n", 5, nil, tell)
		require.ErrorIs(t, err, client.ErrConflict)
		tell.IfCAS, tell.Touch = cas, time.Minute
		n, err = c.Decrement(patient(t), "n", 5, nil, tell)
		require.NoError(t, err)
		require.EqualValues(t, 95, n)
		require.NotEqual(t, tell.IfCAS, cas)
		nearly(t, time.Hour, left)
		it, err = c.Get(patient(t), "n", client.GetOptions{Info: true})
		require.NoError(t, err)
		require.Equal(t, it.CAS, cas)
		nearly(t, time.Minute, it.Info.TTL)
		_, err = c.Increment(patient(t), "n", 1, nil, client.CounterOptions{Touch: -1, Hints: client.Hints{P: "x"}})
		require.NoError(t, err)
		_, err = c.Increment(patient(t), "n", 1, nil, client.CounterOptions{TTL: &left})
		require.NoError(t, err)
		require.Negative(t, left)

		// A new one is touched as well.
		_, err = c.Increment(patient(t), "m", 1, &client.Counter{TTL: time.Hour}, client.CounterOptions{TTL: &left, Touch: time.Minute})
		require.NoError(t, err)
		nearly(t, time.Hour, left)
		it, err = c.Inspect(patient(t), "m")
		require.NoError(t, err)
		nearly(t, time.Minute, it.Info.TTL)

		// What memcached loses, see CounterOptions.Touch.
		require.NoError(t, c.Set(patient(t), client.Item{Key: "longer", Value: []byte("9"), TTL: time.Hour}))
		n, err = c.Increment(patient(t), "longer", 1, nil, client.CounterOptions{Touch: time.Minute})
		require.NoError(t, err)
		require.EqualValues(t, 10, n)
		it, err = c.Inspect(patient(t), "longer")
		require.NoError(t, err)
		nearly(t, time.Hour, it.Info.TTL)
	})
}
