package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A process that is stopped in the midst of its loads keeps nobody waiting: what it
// has claimed is there for the next to claim, and values that are there stay.
func TestCloseGivesClaimsBack(t *testing.T) {
	for name, before := range map[string]struct {
		say  []string // of others, before
		opts client.LoadOptions
	}{
		"nothing":             {nil, hour},
		"soon to expire":      {[]string{"ms k 1 T60\r\nv"}, client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour}},
		"invalidated":         {[]string{"ms k 1\r\nv", "md k I T600"}, hour},
		"invalidated, served": {[]string{"ms k 1\r\nv", "md k I T600"}, client.LoadOptions{TTL: time.Hour, Stale: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inLoadBubble(t, func(t *testing.T, b *loadBubble) {
				for _, command := range before.say {
					require.Equal(t, "HD", b.say(command))
				}
				stopped, next := b.client(), b.client()
				r := start(t.Context(), stopped, after(time.Hour, "lost"), before.opts)
				synctest.Wait()
				began := time.Now()
				require.NoError(t, stopped.Close())
				<-r.done
				if r.err != nil {
					require.ErrorIs(t, r.err, client.ErrClosed)
				} else {
					require.Equal(t, "v", string(r.it.Value))
				}
				loaded := make(chan struct{})
				r = start(t.Context(), next, func(context.Context) (client.Item, error) {
					close(loaded)
					return client.Item{Value: []byte("new")}, nil
				}, before.opts)
				<-r.done
				require.NoError(t, r.err)
				<-loaded
				require.Zero(t, time.Since(began))
				it, err := next.Get(t.Context(), "k")
				require.NoError(t, err)
				require.Equal(t, "new", string(it.Value))
			})
		})
	}
}

// A load that is done when its client is closed is not for nothing.
func TestCloseStoresWhatIsLoaded(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		r := start(t.Context(), c, func(ctx context.Context) (client.Item, error) {
			<-ctx.Done()
			return client.Item{Value: []byte("v")}, nil
		}, hour)
		synctest.Wait()
		require.NoError(t, c.Close())
		<-r.done
		require.Equal(t, "VA 1", b.say("mg k v"))
	})
}

// Neither a load that does not heed its context nor a server that does not answer
// keeps Close from interrupting all else after a second.
func TestCloseDoesNotWaitForClaims(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := dial(t, &client.Config{DialContext: b.srv.DialContext, OpTimeout: -1, StallLimit: -1}, b.srv.Addr())
		began := time.Now()
		start(t.Context(), c, after(time.Hour, "v"), hour)
		synctest.Wait()
		b.srv.SetScript(func(memcachedtest.Request) memcachedtest.Action { return memcachedtest.Answer().Stall(nil) })
		go func() {
			_, err := c.Get(t.Context(), "other")
			assert.ErrorIs(t, err, client.ErrClosed)
			assert.Equal(t, time.Second, time.Since(began))
		}()
		synctest.Wait()
		require.NoError(t, c.Close())
		require.Equal(t, time.Second, time.Since(began))
	})
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		began := time.Now()
		r := start(t.Context(), c, func(context.Context) (client.Item, error) {
			time.Sleep(time.Minute)
			return client.Item{Value: []byte("v")}, nil
		}, hour)
		synctest.Wait()
		require.NoError(t, c.Close())
		require.Equal(t, time.Minute, time.Since(began))
		<-r.done
		require.ErrorIs(t, r.err, client.ErrClosed)
		require.Zero(t, r.took)
	})
}
