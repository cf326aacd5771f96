package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A refresh that has failed, or whose process has died, is tried again when the
// time of a claim has passed. The value stays what it was: not stale.
func TestRefreshFails(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		var told errorList
		opts := client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour, Claim: 10 * time.Second, Notify: told.add}
		require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old"), Flags: 5, TTL: 50 * time.Minute}))
		failure := errors.New("failure")
		fails := 0
		fail := func(context.Context) (client.Item, error) {
			fails++
			return client.Item{}, failure
		}
		for range 30 {
			for range 3 {
				require.Equal(t, "old", start(t.Context(), c, fail, opts).value(t))
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.Equal(t, 3, fails, "at once, and after ten seconds each")
		require.True(t, told.has(failure))
		now := b.say("mg k f t")
		require.Contains(t, now, "HD f5 t2970", "it is what it was, and expires as it would have")
		require.NotContains(t, now, "X")

		time.Sleep(opts.Claim)
		start(t.Context(), c, noLoad(t), opts).value(t) // gives the claim back
		require.Contains(t, b.say("mg k R3600"), " W")  // and this one dies with it
		other := b.client()
		require.Equal(t, "old", start(t.Context(), other, noLoad(t), opts).value(t))
		time.Sleep(opts.Claim)
		require.Equal(t, "old", start(t.Context(), other, noLoad(t), opts).value(t))
		require.Equal(t, "old", start(t.Context(), other, loads("new"), opts).value(t))
		synctest.Wait()
		require.Equal(t, "new", start(t.Context(), other, noLoad(t), opts).value(t))
	})
}

// An item whose own TTL is shorter than Refresh, as one that says that there is nothing
// may have, is about to expire from the beginning. It is not loaded all the time for
// that: once in the time of a claim.
func TestRefreshOfShortLived(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		clients := []*client.Client{b.client(), b.client()}
		opts := client.LoadOptions{TTL: time.Hour, Refresh: time.Minute, Claim: 10 * time.Second}
		loads := 0
		load := func(context.Context) (client.Item, error) {
			loads++
			return client.Item{Flags: 7, TTL: 45 * time.Second}, nil
		}
		for range 60 {
			for _, c := range clients {
				start(t.Context(), c, load, opts).value(t)
				synctest.Wait()
			}
			time.Sleep(time.Second / 2)
		}
		require.Equal(t, 3, loads, "within 30 s")
		time.Sleep(time.Minute)
		start(t.Context(), clients[0], load, opts).value(t)
		require.Equal(t, 4, loads, "it has expired")
	})
}

// An empty one without Flags could not be told from nothing then: nobody waits for it.
func TestShortLivedAndEmpty(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		opts := client.LoadOptions{TTL: time.Hour, Refresh: time.Minute}
		for range 3 {
			r := start(t.Context(), c, func(context.Context) (client.Item, error) {
				return client.Item{TTL: 45 * time.Second}, nil
			}, opts)
			require.Empty(t, r.value(t))
			require.Zero(t, r.took)
		}
	})
}

// If such an item is invalidated before its claim is taken, whoever asks next loads it.
func TestShortLivedIsInvalidated(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		opts := client.LoadOptions{TTL: time.Hour, Refresh: time.Minute}
		b.srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
			if r.Command == "ms" {
				return memcachedtest.Answer().Delay(time.Second / 2)
			}
			return memcachedtest.Answer()
		})
		r := start(t.Context(), c, func(context.Context) (client.Item, error) {
			return client.Item{Value: []byte("old"), TTL: 45 * time.Second}, nil
		}, opts)
		time.Sleep(time.Second / 4)
		require.Equal(t, "HD", b.say("md k I"))
		require.Equal(t, "old", r.value(t))
		b.srv.SetScript(nil)
		r = start(t.Context(), c, loads("new"), opts)
		require.Equal(t, "new", r.value(t))
		require.Zero(t, r.took)
	})
}

// A refresh that takes longer than its claim is ended.
func TestRefreshIsBounded(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		var told errorList
		require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old"), TTL: time.Minute}))
		opts := client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour, Claim: 10 * time.Second, Notify: told.add}
		require.Equal(t, "old", start(t.Context(), c, after(time.Hour, "new"), opts).value(t))
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Zero(t, told.len())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.True(t, told.has(context.DeadlineExceeded))
	})
}

// A load in the background goes on when one who has waited for it leaves.
func TestRefreshOutlivesWaiters(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old")}))
		require.Equal(t, "HD", b.say("md k I"))
		lax := client.LoadOptions{TTL: time.Hour, Stale: true}
		require.Equal(t, "old", start(t.Context(), c, after(2*time.Second, "new"), lax).value(t))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := start(ctx, c, noLoad(t), hour)
		<-r.done
		require.ErrorIs(t, r.err, client.ErrTimeout)
		require.EqualValues(t, 1, c.LoadCounters().Shared)
		require.Equal(t, "new", start(t.Context(), c, noLoad(t), hour).value(t))
		require.Zero(t, c.LoadCounters().Failed)
	})
}

// What is not to be stored, or is not there any more, takes the old value with it.
func TestRefreshOfWhatIsGone(t *testing.T) {
	for name, load := range map[string]func(context.Context) (client.Item, error){
		"not found":    func(context.Context) (client.Item, error) { return client.Item{}, client.ErrNotFound },
		"negative TTL": func(context.Context) (client.Item, error) { return client.Item{TTL: -1}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			inLoadBubble(t, func(t *testing.T, b *loadBubble) {
				c := b.client()
				require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old"), TTL: time.Minute}))
				opts := client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour}
				require.Equal(t, "old", start(t.Context(), c, load, opts).value(t))
				synctest.Wait()
				_, err := c.Get(t.Context(), "k")
				require.ErrorIs(t, err, client.ErrNotFound)
			})
		})
	}
}
