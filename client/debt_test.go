package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// abandon makes n calls for key and gives each up.
func abandon(t *testing.T, c *client.Client, srv *memcachedtest.Server, key string, n int) {
	t.Helper()
	for range n {
		before := srv.RequestCount()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := c.Get(ctx, key)
			done <- err
		}()
		require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > before }))
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	}
}

// Late replies are consumed, counted, and cost no connection, however many there
// are over time: what has been paid does not count towards the limit.
func TestDebtIsPaid(t *testing.T) {
	cfg := client.Config{ConnsPerServer: 1, MaxDebt: 8}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: make([]byte, 1000)}))
		for round := uint64(1); round <= 3; round++ {
			release := make(chan struct{})
			srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(release)))
			abandon(t, c, srv, "k", 5)
			close(release)
			eventually(t, "the debt is paid without a call", func() bool {
				return c.Counters().Servers[srv.Addr()].LateReplies == 5*round
			})
			n := c.Counters()
			require.EqualValues(t, 5*round, n.Servers[srv.Addr()].Timeouts)
			require.EqualValues(t, 5000*round, n.Servers[srv.Addr()].Drained)
			require.EqualValues(t, 5*round, n.Timeouts)
			require.Zero(t, n.Losses)
			require.EqualValues(t, 1, n.Dials)
		}
	})
}

// A connection in debt is avoided while there is another, and used again when
// it has paid.
func TestDebtIsAvoided(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 2}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "other", Value: []byte("v")}))
		release := make(chan struct{})
		srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(release)))
		abandon(t, c, srv, "k", 1)
		late := 0
		eventually(t, "calls go by another connection", func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err := c.Get(ctx, "other")
			if err != nil {
				late++
			}
			return err == nil
		})
		require.Less(t, late, 20, "only as long as the other is being dialled")
		require.EqualValues(t, 2, c.Counters().Dials)
		close(release)
		eventually(t, "all debt is paid", func() bool {
			n := c.Counters().Servers[srv.Addr()]
			return n.LateReplies == n.Timeouts
		})
		_, err := c.Get(patient(t), "other")
		require.NoError(t, err)
		require.EqualValues(t, 2, c.Counters().Dials)
		require.Zero(t, c.Counters().Losses)
	})
}

// Spare connections are for servers that are late, which calls that their callers
// have cancelled or left do not show.
func TestCancelledCallsOpenNoSpares(t *testing.T) {
	cfg := client.Config{ConnsPerServer: 1, SpareConns: 3}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		for _, k := range []string{"k", "other"} {
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: []byte("v")}))
		}
		for _, err := range c.GetMulti(patient(t), []string{"k", "other"}) {
			require.NoError(t, err)
			break
		}
		release := make(chan struct{})
		srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(release)))
		abandon(t, c, srv, "k", 1)
		before := c.Counters().BytesOut
		done := make(chan error)
		go func() {
			_, err := c.Get(patient(t), "other")
			done <- err
		}()
		eventually(t, "another call is behind it", func() bool { return c.Counters().BytesOut > before })
		close(release)
		require.NoError(t, <-done)
		require.EqualValues(t, 1, c.Counters().Dials)

		release = make(chan struct{})
		srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(release)))
		defer close(release)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err := c.Get(ctx, "k")
		require.ErrorIs(t, err, client.ErrTimeout)
		eventually(t, "the server is late, and calls go by another connection", func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err := c.Get(ctx, "other")
			return err == nil
		})
		require.Greater(t, c.Counters().Dials, uint64(1))
	})
}

// A server from which nothing comes for the stall limit is noticed although no
// call is made; one that is merely slow is not given up.
func TestStall(t *testing.T) {
	cfg := client.Config{ConnsPerServer: 1, StallLimit: 200 * time.Millisecond}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Ping(patient(t)))
		srv.SetScript(memcachedtest.OnKey("dead", memcachedtest.Answer().Stall(nil)))
		abandon(t, c, srv, "dead", 1)
		eventually(t, "the stalled connection is closed", func() bool {
			n := c.Counters()
			return n.Servers[srv.Addr()].ClosedByStall == 1 && n.Conns == 0
		})
		require.NoError(t, c.Ping(patient(t)), "and replaced")
	})
}

func TestMaxDebt(t *testing.T) {
	cfg := client.Config{ConnsPerServer: 1, MaxDebt: 3}
	onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Ping(patient(t)))
		srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(nil)))
		abandon(t, c, srv, "k", 3)
		require.EqualValues(t, 1, c.Counters().Conns)
		abandon(t, c, srv, "k", 1)
		eventually(t, "the connection that owes too much is closed", func() bool {
			n := c.Counters()
			return n.Servers[srv.Addr()].ClosedByDebt == 1 && n.Conns == 0
		})
	})
}
