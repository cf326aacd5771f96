package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A call that has given up may have won a claim all the same, and nobody hears of it
// but the late reply. It must not keep others waiting.
func TestClaimWonTooLate(t *testing.T) {
	opts := client.LoadOptions{TTL: 2 * time.Hour, Refresh: time.Hour}
	item := client.Item{Key: "k", Value: []byte("old"), TTL: time.Minute}
	for name, test := range map[string]struct {
		prepare        func(context.Context, *client.Client) error
		claimed, after string // what other clients are told before and after the reply
	}{
		"nothing":         {func(context.Context, *client.Client) error { return nil }, "HD s0 Z", "EN"},
		"about to expire": {func(ctx context.Context, c *client.Client) error { return c.Set(ctx, item) }, "HD s3 Z", "HD s3 W"},
		"invalidated": {func(ctx context.Context, c *client.Client) error {
			_ = c.Set(ctx, item)
			return c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true, TTL: time.Minute})
		}, "HD s3 Z X", "HD s3 X W"},
	} {
		for _, leaves := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", the caller leaves", false: ", the server is slow"}[leaves], func(t *testing.T) {
				inLoadBubble(t, func(t *testing.T, b *loadBubble) {
					c := b.client()
					require.NoError(t, test.prepare(t.Context(), c))
					b.srv.SetScript(memcachedtest.Sequence(memcachedtest.Answer().Delay(3 * time.Second)))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					r := start(ctx, c, loads("v"), opts)
					synctest.Wait()
					if leaves {
						cancel()
						<-r.done
						require.ErrorIs(t, r.err, context.Canceled)
					} else {
						require.Equal(t, "v", r.value(t), "it was loaded without the cache")
					}
					require.Equal(t, test.claimed, b.say("mg k s R3600"))
					time.Sleep(5 * time.Second)
					require.EqualValues(t, 1, c.Counters().Servers[b.srv.Addr()].LateReplies)
					require.Equal(t, test.after, b.say("mg k s R3600"))
				})
			})
		}
	}
}

// The same of a call that waits for another process's load.
func TestClaimWonTooLateWhileWaiting(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		b.say("mg k v N0")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := start(ctx, c, noLoad(t), hour)
		synctest.Wait()
		b.say("md k")
		b.srv.SetScript(memcachedtest.OnCommand("mg", memcachedtest.Answer().Delay(time.Second/2)))
		time.Sleep(time.Second / 4) // it has looked again
		cancel()
		<-r.done
		require.ErrorIs(t, r.err, context.Canceled)
		time.Sleep(time.Second)
		b.srv.SetScript(nil)
		require.Equal(t, "EN", b.say("mg k s"))
	})
}
