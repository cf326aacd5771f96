package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func TestLateWrite(t *testing.T) {
	late := make(chan client.LateWrite, 10)
	cfg := client.Config{ConnsPerServer: 1, LateWrite: func(l client.LateWrite) { late <- l }}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "there"}))
		release := make(chan struct{})
		srv.SetScript(func(memcachedtest.Request) memcachedtest.Action { return memcachedtest.Answer().Stall(release) })
		giveUp := func(f func(context.Context) error) {
			before := srv.RequestCount()
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error)
			go func() { done <- f(ctx) }()
			require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > before }))
			cancel()
			err := <-done
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, client.Unknown, opError(t, err).Outcome)
		}
		giveUp(func(ctx context.Context) error { return c.Set(ctx, client.Item{Key: "a"}) })
		giveUp(func(ctx context.Context) error { return c.Add(ctx, client.Item{Key: "there"}) })
		giveUp(func(ctx context.Context) error { return c.Delete(ctx, "none") })
		giveUp(func(ctx context.Context) error { _, err := c.Get(ctx, "there"); return err })
		close(release)
		got := map[string]client.LateWrite{}
		for range 3 {
			l := <-late
			got[l.Op] = l
			require.Equal(t, srv.Addr(), l.Server)
		}
		require.NoError(t, got["set"].Err)
		require.Equal(t, "a", got["set"].Key)
		require.ErrorIs(t, got["add"].Err, client.ErrNotStored)
		require.ErrorIs(t, got["delete"].Err, client.ErrNotFound)

		srv.SetScript(memcachedtest.OnKey("lost", memcachedtest.Answer().Stall(nil)))
		giveUp(func(ctx context.Context) error { return c.Set(ctx, client.Item{Key: "lost"}) })
		srv.CloseConns()
		l := <-late
		require.ErrorIs(t, l.Err, client.ErrConnLost)
		require.Equal(t, client.Unknown, opError(t, l.Err).Outcome)
		require.Empty(t, late, "reads are not reported")
	})
}
