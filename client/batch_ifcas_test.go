package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// What an entry compares with is its own: others are carried out beside it.
func TestBatchIfCAS(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		cas := make(map[string]uint64)
		for _, k := range []string{"set", "replace", "append", "cas", "stale", "gone", "kept", "n"} {
			var got uint64
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: []byte("1"), TTL: time.Hour}, client.StoreOptions{StoredCAS: &got}))
			cas[k] = got
		}
		item := func(key string) client.Item { return client.Item{Key: key, Value: []byte("2"), CAS: cas[key]} }
		var b client.Batch
		var stored, appended, swapped, counted uint64
		conflicting := uint64(77)
		var left time.Duration
		set := b.Set(item("set"), client.StoreOptions{IfCAS: cas["set"], StoredCAS: &stored})
		conflict := b.Replace(item("replace"), client.StoreOptions{IfCAS: cas["replace"] + 100, StoredCAS: &conflicting})
		absent := b.Prepend(item("absent"), client.StoreOptions{IfCAS: 5})
		joined := b.Append(item("append"), client.StoreOptions{IfCAS: cas["append"], StoredCAS: &appended})
		swap := b.CompareAndSwap(item("cas"), client.StoreOptions{StoredCAS: &swapped})
		older := b.Set(item("stale"), client.StoreOptions{IfCAS: 1, StaleIfOlder: true})
		gone := b.Delete("gone", client.DeleteOptions{IfCAS: cas["gone"]})
		kept := b.Delete("kept", client.DeleteOptions{IfCAS: cas["kept"] + 100, Invalidate: true})
		missed := b.Decrement("n", 1, nil, client.CounterOptions{IfCAS: cas["n"] + 100})
		n := b.Increment("n", 9, nil, client.CounterOptions{IfCAS: cas["n"], CAS: &counted, TTL: &left, Touch: time.Minute})
		err := batchError(t, c.Do(patient(t), &b))
		for r, want := range map[*client.Result]error{
			set: nil, conflict: client.ErrConflict, absent: client.ErrNotStored, joined: nil, swap: nil, older: nil,
			gone: nil, kept: client.ErrConflict, &missed.Result: client.ErrConflict, &n.Result: nil,
		} {
			if want == nil {
				require.NoError(t, r.Err())
			} else {
				require.ErrorIs(t, r.Err(), want)
			}
		}
		require.NoError(t, client.Except(err, client.ErrConflict, client.ErrNotStored))
		require.EqualValues(t, 77, conflicting, "nothing was stored")
		sum, e := n.Count()
		require.NoError(t, e)
		require.EqualValues(t, 10, sum)
		nearly(t, time.Hour, left)
		for key, want := range map[string]client.Item{
			"set": {Value: []byte("2"), CAS: stored}, "append": {Value: []byte("12"), CAS: appended}, "cas": {Value: []byte("2"), CAS: swapped},
			"replace": {Value: []byte("1"), CAS: cas["replace"]}, "kept": {Value: []byte("1"), CAS: cas["kept"]}, "n": {Value: []byte("10"), CAS: counted},
		} {
			it, err := c.Get(patient(t), key)
			require.NoError(t, err, key)
			require.Equal(t, string(want.Value), string(it.Value), key)
			require.Equal(t, want.CAS, it.CAS, key)
			require.Zero(t, it.State, key)
		}
		it, e := c.Get(patient(t), "stale")
		require.NoError(t, e)
		require.Equal(t, client.Won|client.Stale, it.State)
		_, e = c.Get(patient(t), "gone")
		require.ErrorIs(t, e, client.ErrNotFound)
		require.Zero(t, c.Counters().Losses)
	})
}

// Options that make no sense cost their entry, of which nothing is sent, and no other.
func TestBatchBadOptions(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		var b client.Batch
		bad := client.Item{Key: "bad", CAS: 5}
		before := b.Set(client.Item{Key: "before"}, client.StoreOptions{})
		results := []*client.Result{
			b.Set(bad, client.StoreOptions{}, client.StoreOptions{}),
			b.Set(bad, client.StoreOptions{Create: true}),
			b.Add(bad, client.StoreOptions{IfCAS: 5}),
			b.Replace(bad, client.StoreOptions{StaleIfOlder: true}),
			b.Append(bad, client.StoreOptions{Create: true, IfCAS: 5}),
			b.Prepend(bad, client.StoreOptions{Hints: client.Hints{P: "a b"}}),
			b.CompareAndSwap(bad, client.StoreOptions{IfCAS: 5}),
			b.Delete("bad", client.DeleteOptions{TTL: time.Minute}),
			b.Delete("bad", client.DeleteOptions{}, client.DeleteOptions{}),
			&b.Get("bad", client.GetOptions{Bump: true, NoBump: true}).Result,
			&b.Get("bad", client.GetOptions{}, client.GetOptions{}).Result,
			&b.Increment("bad", 1, nil, client.CounterOptions{Hints: client.Hints{L: "\n"}}).Result,
			&b.Decrement("bad", 1, nil, client.CounterOptions{}, client.CounterOptions{}).Result,
		}
		after := b.Append(client.Item{Key: "before", Value: []byte("x")})
		require.Error(t, c.Do(patient(t), &b))
		require.NoError(t, before.Err())
		require.NoError(t, after.Err())
		for i, r := range results {
			require.ErrorIs(t, r.Err(), client.ErrArgument, "%d", i)
			require.Equal(t, client.NotSent, opError(t, r.Err()).Outcome)
		}
		for _, r := range srv.Requests() {
			require.NotEqual(t, "bad", r.Key)
		}
	})
}
