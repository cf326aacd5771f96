package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// The requests of a batch have the options that calls of their own have.
func TestBatchOptions(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		var cas, stored, counted uint64
		require.NoError(t, c.Set(patient(t), client.Item{Key: "a", Value: []byte("1")}, client.StoreOptions{StoredCAS: &cas}))
		require.NoError(t, c.Set(patient(t), client.Item{Key: "b", Value: []byte("2")}))
		require.NoError(t, c.Set(patient(t), client.Item{Key: "s", Value: []byte("old")}))
		var b client.Batch
		won := b.Set(client.Item{Key: "a", Value: []byte("10")}, client.StoreOptions{IfCAS: cas, StoredCAS: &stored})
		lost := b.Append(client.Item{Key: "b", Value: []byte("0")}, client.StoreOptions{IfCAS: cas})
		stale := b.Delete("s", client.DeleteOptions{Invalidate: true})
		first := b.Get("s", client.GetOptions{Info: true})
		second := b.Get("s")
		n := b.Increment("n", 1, &client.Counter{Value: 5}, client.CounterOptions{CAS: &counted, Touch: time.Hour})
		kept := b.Delete("b", client.DeleteOptions{IfCAS: cas})
		err := c.Do(patient(t), &b)
		var batch *client.BatchError
		require.ErrorAs(t, err, &batch)
		require.NoError(t, won.Err())
		require.Greater(t, stored, cas)
		require.ErrorIs(t, lost.Err(), client.ErrConflict)
		require.ErrorIs(t, kept.Err(), client.ErrConflict)
		require.NoError(t, stale.Err())
		it, err := first.Item()
		require.NoError(t, err)
		require.Equal(t, client.Won|client.Stale, it.State)
		require.Equal(t, 3, it.Info.Size)
		it, err = second.Item()
		require.NoError(t, err)
		require.Equal(t, client.Claimed|client.Stale, it.State)
		require.Nil(t, it.Info)
		v, err := n.Count()
		require.NoError(t, err)
		require.EqualValues(t, 5, v)
		require.NotZero(t, counted)

		it, err = c.Get(patient(t), "a")
		require.NoError(t, err)
		require.Equal(t, stored, it.CAS)
		it, err = c.Inspect(patient(t), "n")
		require.NoError(t, err)
		nearly(t, time.Hour, it.Info.TTL)

		// Of many at once.
		keys := keysOf("many-%d", 300)
		items := make([]client.Item, len(keys))
		for i, k := range keys {
			items[i] = client.Item{Key: k, Value: []byte(k)}
		}
		require.NoError(t, c.SetMulti(patient(t), items[:299], client.StoreOptions{Hints: client.Hints{P: "p"}}))
		err = c.DeleteMulti(patient(t), keys, client.DeleteOptions{Invalidate: true, TTL: time.Minute})
		require.ErrorAs(t, err, &batch)
		for i := range keys {
			if i == 299 {
				require.ErrorIs(t, batch.Errs[i], client.ErrNotFound)
				continue
			}
			require.NoError(t, batch.Errs[i])
		}
		got := 0
		for it, err := range c.GetMulti(patient(t), keys, client.GetOptions{Info: true}) {
			require.NoError(t, err)
			require.Equal(t, client.Won|client.Stale, it.State)
			require.Equal(t, it.Key, string(it.Value))
			nearly(t, time.Minute, it.Info.TTL)
			got++
		}
		require.Equal(t, 299, got)
	})
}

// What a server does not know is refused alone, and not sent; so is what makes no
// sense.
func TestBatchOptionsRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for version, known := range map[string]bool{"1.6.18": false, "1.6.45": true} {
			t.Run(version, func(t *testing.T) {
				srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Version: version})
				c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second}, srv.Addr())
				var b client.Batch
				newCAS := b.Set(client.Item{Key: "new", Value: []byte("v")}, client.StoreOptions{NewCAS: 77})
				plain := b.Set(client.Item{Key: "plain", Value: []byte("v")})
				made := b.Append(client.Item{Key: "made", Value: []byte("1")}, client.StoreOptions{Create: true})
				joined := b.Append(client.Item{Key: "made", Value: []byte("2")}, client.StoreOptions{Create: true})
				same := b.Get("new", client.GetOptions{UnlessCAS: 77})
				other := b.Get("made", client.GetOptions{UnlessCAS: 77})
				bad := []*client.Result{
					b.Set(client.Item{Key: "bad"}, client.StoreOptions{}, client.StoreOptions{}),
					b.Delete("bad", client.DeleteOptions{TTL: time.Hour}),
					&b.Get("bad", client.GetOptions{Recache: -1}).Result,
				}
				require.Error(t, c.Do(patient(t), &b))
				require.NoError(t, plain.Err())
				for i, r := range bad {
					require.ErrorIs(t, r.Err(), client.ErrArgument, "number %d", i)
					require.Equal(t, client.NotSent, opError(t, r.Err()).Outcome, "number %d", i)
				}
				err := c.SetMulti(patient(t), []client.Item{{Key: "x"}, {Key: "y"}}, client.StoreOptions{NewCAS: 5})
				dropped := c.DeleteMulti(patient(t), []string{"plain"}, client.DeleteOptions{DropValue: true, TTL: time.Hour})
				if known {
					for _, err := range []error{newCAS.Err(), err, dropped, made.Err(), joined.Err()} {
						require.NoError(t, err)
					}
					it, err := same.Item()
					require.ErrorIs(t, err, client.ErrNotModified)
					require.EqualValues(t, 77, it.CAS)
					require.Equal(t, "new", it.Key)
					require.Nil(t, it.Value)
					it, err = other.Item()
					require.NoError(t, err)
					require.Equal(t, "12", string(it.Value))
				} else {
					for _, err := range []error{newCAS.Err(), err, dropped, made.Err(), joined.Err(), same.Err(), other.Err()} {
						var lacks *client.UnsupportedError
						require.ErrorAs(t, err, &lacks)
						require.True(t, client.SafeToRetry(err))
					}
				}
				for _, r := range srv.Requests() {
					require.NotEqual(t, "bad", r.Key)
					if !known {
						require.NotContains(t, []string{"new", "x", "y", "made"}, r.Key)
					}
				}
				for _, err := range []error{
					c.SetMulti(patient(t), []client.Item{{Key: "k"}}, client.StoreOptions{IfCAS: 1}),
					c.SetMulti(patient(t), []client.Item{{Key: "k"}}, client.StoreOptions{StoredCAS: new(uint64)}),
					c.DeleteMulti(patient(t), []string{"k"}, client.DeleteOptions{IfCAS: 1}),
					c.DeleteMulti(patient(t), []string{"k"}, client.DeleteOptions{}, client.DeleteOptions{}),
				} {
					require.ErrorIs(t, err, client.ErrArgument)
				}
			})
		}
	})
}
