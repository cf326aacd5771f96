package client

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// inFlights runs f in virtual time, with a client.
func inFlights(t *testing.T, f func(t *testing.T, cl *Client)) {
	synctest.Test(t, func(t *testing.T) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
		cl, err := New([]string{srv.Addr()}, &Config{DialContext: srv.DialContext})
		require.NoError(t, err)
		began := time.Now()
		f(t, cl)
		require.Less(t, time.Since(began), defaultClaim/2, "a claim was lost and had to run out")
		require.NoError(t, cl.Close())
		require.Empty(t, cl.loads.open)
		require.Zero(t, cl.loads.running)
	})
}

func wants(n *atomic.Int64, opts LoadOptions) *want {
	w := &want{"k", func(context.Context) (Item, error) {
		n.Add(1)
		return Item{Value: []byte("v")}, nil
	}, opts}
	if err := w.check(); err != nil {
		panic(err)
	}
	return w
}

// vivify claims the key and returns the reply to who has won, and to another.
func vivify(t *testing.T, cl *Client) (won, other Item) {
	t.Helper()
	for _, it := range []*Item{&won, &other} {
		var err error
		*it, err = cl.Get(t.Context(), "k", GetOptions{Vivify: -1})
		require.NoError(t, err)
	}
	return won, other
}

// The caller that has won may come after one that has found the key claimed and
// waits. Then the one that waits loads, for both.
func TestClaimIsHandedOver(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		w := wants(&n, LoadOptions{})
		won, other := vivify(t, cl)
		f1, err := cl.look(t.Context(), w, &other)
		require.NoError(t, err)
		f2, err := cl.look(t.Context(), w, &won)
		require.NoError(t, err)
		require.Same(t, f1, f2)
		for _, f := range []*flight{f1, f2} {
			it, end, err := f.wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, endResult, end)
			require.Equal(t, "v", string(it.Value))
		}
		require.EqualValues(t, 1, n.Load())
	})
}

// The caller that has won may want the stale value at once. Then the one that waits
// for a new one loads.
func TestRefreshIsHandedOver(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		strict, lax := wants(&n, LoadOptions{}), wants(&n, LoadOptions{Stale: true})
		it := Item{Value: []byte("old"), CAS: 1, State: Stale | Claimed}
		f, err := cl.look(t.Context(), strict, &it)
		require.NoError(t, err)
		it = Item{Value: []byte("old"), CAS: 1, State: Stale | Won}
		none, err := cl.look(t.Context(), lax, &it)
		require.NoError(t, err)
		require.Nil(t, none)
		require.Equal(t, Stale, it.State)
		it, _, err = f.wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value))
		require.EqualValues(t, 1, n.Load())
	})
}

// A flight that waits, and wins the next claim, loads for its callers under that.
func TestFlightMoves(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		w := wants(&n, LoadOptions{})
		_, other := vivify(t, cl)
		f, err := cl.look(t.Context(), w, &other)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, cl.Delete(t.Context(), "k"))
		it, end, err := f.wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, endResult, end)
		require.Equal(t, "v", string(it.Value))
		require.EqualValues(t, 1, n.Load())
		it, err = cl.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value), "it was stored with the new claim")
	})
}

// If the claim that a flight wins is waited for by another, that one loads.
func TestFlightMovesToAnother(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		w := wants(&n, LoadOptions{})
		_, old := vivify(t, cl)
		require.NoError(t, cl.Delete(t.Context(), "k"))
		won, other := vivify(t, cl)
		f1, err := cl.look(t.Context(), w, &old)
		require.NoError(t, err)
		f2, err := cl.look(t.Context(), w, &other)
		require.NoError(t, err)
		won1, over := f1.found(&won) // as if its look had brought that
		require.False(t, won1)
		require.True(t, over)
		require.Equal(t, endAgain, f1.end)
		it, _, err := f2.wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value))
		require.EqualValues(t, 1, n.Load())
		_, _, _ = f1.wait(t.Context())
	})
}

// A claim that passes to another process is that process's: callers look again.
func TestFlightLooksAgain(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		_, old := vivify(t, cl)
		require.NoError(t, cl.Delete(t.Context(), "k"))
		vivify(t, cl)
		f, err := cl.look(t.Context(), wants(&n, LoadOptions{}), &old)
		require.NoError(t, err)
		_, end, err := f.wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, endAgain, end)
	})
}

// Loads in the background are bounded in number.
func TestBackgroundIsBounded(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		var n atomic.Int64
		w := wants(&n, LoadOptions{Claim: time.Minute})
		release := make(chan struct{})
		w.load = func(context.Context) (Item, error) {
			n.Add(1)
			<-release
			return Item{}, ErrNotFound
		}
		for i := range maxBackground + 10 {
			w.key = fmt.Sprint(i)
			cl.loads.background(t.Context(), cl, w, claim{cas: 1, of: fresh, won: true})
		}
		synctest.Wait()
		require.EqualValues(t, maxBackground, n.Load())
		close(release)
		synctest.Wait()
		cl.loads.background(t.Context(), cl, w, claim{cas: 1, of: fresh, won: true})
		synctest.Wait()
		require.EqualValues(t, maxBackground+1, n.Load())
	})
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		require.False(t, w.overdue("k", 1, time.Second))
		time.Sleep(time.Second - 1)
		require.False(t, w.overdue("k", 1, time.Second))
		require.False(t, w.overdue("other", 1, time.Second))
		time.Sleep(time.Nanosecond)
		require.True(t, w.overdue("k", 1, time.Second))
		require.False(t, w.overdue("k", 1, time.Second), "one caller is enough")
		time.Sleep(time.Second)
		require.False(t, w.overdue("k", 2, time.Second), "another claim")
		for i := range 2 * maxWatched {
			w.overdue(fmt.Sprint(i), 1, time.Second)
		}
		require.Len(t, w.seen, maxWatched)
	})
}

// A claim that is handed to a flight which all leave is not lost: it is used or given
// back. Whether the flight sees the one or the other first is for chance to say.
func TestClaimIsHandedOverTooLate(t *testing.T) {
	inFlights(t, func(t *testing.T, cl *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 30 {
			var n atomic.Int64
			w := wants(&n, LoadOptions{})
			won, other := vivify(t, cl)
			f1, err := cl.look(t.Context(), w, &other)
			require.NoError(t, err)
			f2, err := cl.look(t.Context(), w, &won)
			require.NoError(t, err)
			for _, f := range []*flight{f1, f2} {
				if _, _, err := f.wait(ctx); err != nil { // nil if it has loaded before
					require.ErrorIs(t, err, context.Canceled)
				}
			}
			synctest.Wait()
			it, err := cl.Get(t.Context(), "k", GetOptions{Vivify: -1})
			require.NoError(t, err)
			require.NotEqual(t, Claimed, it.State, "claimed, and nobody knows of it")
			require.NoError(t, cl.Delete(t.Context(), "k"))
		}
	})
}

// Neither is one that is handed to a flight whose look at the cache fails at that
// moment.
func TestClaimIsHandedOverAtLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
		cl, err := New([]string{srv.Addr()}, &Config{DialContext: srv.DialContext})
		require.NoError(t, err)
		defer func() { require.NoError(t, cl.Close()) }()
		var n atomic.Int64
		w := wants(&n, LoadOptions{})
		won, other := vivify(t, cl)
		release := make(chan struct{})
		srv.SetScript(memcachedtest.OnCommand("mg", memcachedtest.ErrorLine("SERVER_ERROR out of memory").Stall(release)))
		f, err := cl.look(t.Context(), w, &other)
		require.NoError(t, err)
		time.Sleep(minPause) // it looks, and has no answer yet
		_, err = cl.look(t.Context(), w, &won)
		require.NoError(t, err)
		close(release)
		it, end, err := f.wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, endResult, end)
		require.Equal(t, "v", string(it.Value))
		srv.SetScript(nil)
		it, err = cl.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value), "it was stored")
	})
}
