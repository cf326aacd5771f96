package client_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// loadBubble is a server and its clients in virtual time. Each client stands for a
// process.
type loadBubble struct {
	t   *testing.T
	srv *memcachedtest.Server
}

func inLoadBubble(t *testing.T, f func(t *testing.T, b *loadBubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, &loadBubble{t, memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})})
	})
}

func (b *loadBubble) client() *client.Client {
	return dial(b.t, &client.Config{DialContext: b.srv.DialContext}, b.srv.Addr())
}

// say sends a command as another client does and returns the reply's first line.
func (b *loadBubble) say(command string) string {
	p := b.srv.Pipe()
	defer p.Close()
	go func() { _, _ = io.WriteString(p, command+"\r\n") }()
	line, err := bufio.NewReader(p).ReadString('\n')
	require.NoError(b.t, err)
	return line[:len(line)-2]
}

// call is a GetOrLoad in a goroutine of its own.
type call struct {
	it   client.Item
	err  error
	took time.Duration
	done chan struct{}
}

func start(ctx context.Context, c *client.Client, load func(context.Context) (client.Item, error), opts client.LoadOptions) *call {
	r := &call{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		began := time.Now()
		r.it, r.err = c.GetOrLoad(ctx, "k", load, opts)
		r.took = time.Since(began)
	}()
	return r
}

func (r *call) value(t *testing.T) string {
	t.Helper()
	<-r.done
	require.NoError(t, r.err)
	return string(r.it.Value)
}

// after returns a load that takes its time, unless its context ends.
func after(d time.Duration, value string) func(context.Context) (client.Item, error) {
	return func(ctx context.Context) (client.Item, error) {
		select {
		case <-time.After(d):
			return client.Item{Value: []byte(value)}, nil
		case <-ctx.Done():
			return client.Item{}, context.Cause(ctx)
		}
	}
}

// A claim whose owner has died runs out, and one of those that wait has it then.
func TestClaimOfTheDead(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		require.Contains(t, b.say("mg k v N11"), " W") // and is never heard of again
		c1, c2 := b.client(), b.client()
		opts := client.LoadOptions{TTL: time.Hour, Claim: 10 * time.Second}
		calls := []*call{
			start(t.Context(), c1, loads("v"), opts), start(t.Context(), c1, loads("v"), opts),
			start(t.Context(), c2, loads("v"), opts),
		}
		for _, r := range calls {
			require.Equal(t, "v", r.value(t))
			require.GreaterOrEqual(t, r.took, 10*time.Second)
			require.LessOrEqual(t, r.took, 12*time.Second)
		}
		require.EqualValues(t, 1, c1.LoadCounters().Loads+c2.LoadCounters().Loads)
		require.EqualValues(t, 1, c1.LoadCounters().Shared)
		// From 2 ms on to a quarter of a second: that many looks and not more.
		gets := 0
		for _, r := range b.srv.Requests() {
			if r.Command == "mg" {
				gets++
			}
		}
		require.Greater(t, gets, 2*40)
		require.Less(t, gets, 2*110)
	})
}

// A claim on an item that never expires would never run out. It is taken over as
// well, be the item one of [client.GetOptions].Vivify's, stale, or both.
func TestClaimThatNeverExpires(t *testing.T) {
	for name, commands := range map[string][]string{
		"vivified":           {"mg k v N0"},
		"stale":              {"ms k 3 F7\r\nold", "md k I", "mg k v"},
		"vivified and stale": {"mg k v N0", "md k I", "mg k v"},
	} {
		t.Run(name, func(t *testing.T) {
			inLoadBubble(t, func(t *testing.T, b *loadBubble) {
				for _, c := range commands {
					b.say(c)
				}
				c1, c2 := b.client(), b.client()
				r1, r2 := start(t.Context(), c1, loads("v"), hour), start(t.Context(), c2, loads("v"), hour)
				require.Equal(t, "v", r1.value(t))
				require.Equal(t, "v", r2.value(t))
				require.GreaterOrEqual(t, r1.took, 10*time.Second)
				require.LessOrEqual(t, r1.took, 11*time.Second)
				require.EqualValues(t, 1, c1.LoadCounters().Loads+c2.LoadCounters().Loads)
			})
		})
	}
}

// A load that takes longer than its claim is one of two; what it brings goes to
// its own callers and is not stored.
func TestClaimTooShort(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		slow, other := b.client(), b.client()
		var told errorList
		opts := client.LoadOptions{TTL: time.Hour, Claim: time.Second, Notify: told.add}
		r := start(t.Context(), slow, after(time.Minute, "slow"), opts)
		synctest.Wait()
		require.Equal(t, "quick", start(t.Context(), other, after(0, "quick"), opts).value(t))
		require.Equal(t, "quick", start(t.Context(), slow, noLoad(t), opts).value(t))
		require.Equal(t, "slow", r.value(t))
		require.Equal(t, "quick", start(t.Context(), slow, noLoad(t), opts).value(t))
		require.EqualValues(t, 1, slow.LoadCounters().Lost)
		require.True(t, told.has(client.ErrConflict))
	})
}

// Of an item that was invalidated, callers take the old value, or one of them loads
// and the others wait, as they like.
func TestStaleLoads(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c, other := b.client(), b.client()
		lax := client.LoadOptions{TTL: time.Hour, Stale: true}
		for _, first := range []client.LoadOptions{hour, lax} {
			require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old")}))
			require.Equal(t, "HD", b.say("md k I T60"))
			r := start(t.Context(), c, after(time.Second, "new"), first)
			synctest.Wait()
			var strict []*call
			for _, c := range []*client.Client{c, other} {
				r := start(t.Context(), c, noLoad(t), lax)
				require.Equal(t, "old", r.value(t))
				require.Equal(t, client.Stale, r.it.State)
				require.Zero(t, r.took)
				strict = append(strict, start(t.Context(), c, noLoad(t), hour))
			}
			for _, r := range strict {
				require.Equal(t, "new", r.value(t))
				require.Zero(t, r.it.State)
				require.LessOrEqual(t, r.took, 2*time.Second)
			}
			if first.Stale {
				require.Equal(t, "old", r.value(t))
			} else {
				require.Equal(t, "new", r.value(t))
			}
		}
		require.EqualValues(t, 3, c.LoadCounters().Stale)
		require.EqualValues(t, 2, other.LoadCounters().Stale)
	})
}

// A load of a stale item that fails while its caller waits is for the next one at
// once, and leaves the item stale.
func TestStaleLoadFails(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c, other := b.client(), b.client()
		require.NoError(t, c.Set(t.Context(), client.Item{Key: "k", Value: []byte("old")}))
		require.Equal(t, "HD", b.say("md k I"))
		failure := errors.New("failure")
		r := start(t.Context(), c, func(ctx context.Context) (client.Item, error) {
			_, _ = after(time.Second, "")(ctx)
			return client.Item{}, failure
		}, hour)
		synctest.Wait()
		r2 := start(t.Context(), other, loads("new"), hour)
		<-r.done
		require.ErrorIs(t, r.err, failure)
		require.Equal(t, "new", r2.value(t))
		require.LessOrEqual(t, r2.took, 2*time.Second)

		require.Equal(t, "HD", b.say("md k I"))
		fail := func(context.Context) (client.Item, error) { return client.Item{}, failure }
		r = start(t.Context(), c, fail, hour)
		<-r.done
		require.ErrorIs(t, r.err, failure)
		require.Equal(t, "new", start(t.Context(), c, fail, client.LoadOptions{Stale: true}).value(t), "it is there, and unclaimed")
		synctest.Wait()
		require.EqualValues(t, 3, c.LoadCounters().Loads)
	})
}

// A claim lasts as long as it is to, even if the server's second is nearly over
// when it is made.
func TestClaimLasts(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c, other := b.client(), b.client()
		time.Sleep(990 * time.Millisecond)
		opts := client.LoadOptions{TTL: time.Hour, Claim: 2 * time.Second}
		r := start(t.Context(), c, after(1990*time.Millisecond, "v"), opts)
		synctest.Wait()
		require.Equal(t, "v", start(t.Context(), other, noLoad(t), opts).value(t))
		require.Equal(t, "v", r.value(t))
	})
}

// Callers leave when their contexts end. The load goes on for the others, with the
// first one's values, and ends when there are none.
func TestLoadCallersLeave(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		type name struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), name{}, "first"), time.Second)
		defer cancel()
		var loadEnded time.Time
		began := time.Now()
		load := func(ctx context.Context) (client.Item, error) {
			assert.Equal(t, "first", ctx.Value(name{}))
			_, bounded := ctx.Deadline()
			assert.False(t, bounded)
			it, err := after(time.Hour, "v")(ctx)
			loadEnded = time.Now()
			return it, err
		}
		first := start(ctx, c, load, hour)
		synctest.Wait()
		ctx, cancel = context.WithCancel(t.Context())
		second := start(ctx, c, noLoad(t), hour)
		<-first.done
		require.ErrorIs(t, first.err, client.ErrTimeout)
		require.Equal(t, time.Second, first.took)
		time.Sleep(time.Second)
		require.Zero(t, loadEnded)
		cancel()
		<-second.done
		require.ErrorIs(t, second.err, context.Canceled)
		// The load is on its way out, and nobody joins it.
		require.Equal(t, "new", start(t.Context(), c, loads("new"), hour).value(t))
		require.Equal(t, 2*time.Second, loadEnded.Sub(began))
		require.EqualValues(t, 1, c.LoadCounters().Failed)
	})
}

// Waiting for another process ends with the last caller, too.
func TestWaitersLeave(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		b.say("mg k v N0")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r := start(ctx, c, noLoad(t), hour)
		<-r.done
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, r.took)
		synctest.Wait()
		n := b.srv.RequestCount()
		time.Sleep(time.Minute)
		require.Equal(t, n, b.srv.RequestCount(), "nobody asks any more")
	})
}

// Close ends loads, waits and refreshes, and returns when they have ended.
func TestCloseWhileLoading(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		loading, waiting, refreshing := b.client(), b.client(), b.client()
		var mu sync.Mutex
		ended := 0
		load := func(ctx context.Context) (client.Item, error) {
			it, err := after(time.Hour, "v")(ctx)
			time.Sleep(time.Second) // it takes a while to notice
			mu.Lock()
			defer mu.Unlock()
			ended++
			return it, err
		}
		r1 := start(t.Context(), loading, load, hour)
		synctest.Wait()
		r2 := start(t.Context(), waiting, noLoad(t), hour)
		require.NoError(t, waiting.Set(t.Context(), client.Item{Key: "other", Value: []byte("v"), TTL: time.Minute}))
		_, err := refreshing.GetOrLoad(t.Context(), "other", load, client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour})
		require.NoError(t, err)
		time.Sleep(time.Second)
		for i, c := range []*client.Client{waiting, loading, refreshing} {
			require.NoError(t, c.Close())
			mu.Lock()
			require.Equal(t, i, ended)
			mu.Unlock()
			_, err := c.GetOrLoad(t.Context(), "k", noLoad(t), hour)
			require.ErrorIs(t, err, client.ErrClosed)
		}
		for _, r := range []*call{r1, r2} {
			<-r.done
			require.ErrorIs(t, r.err, client.ErrClosed)
		}
	})
}
