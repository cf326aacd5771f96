package client_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Each counter of a server rises by what has happened, and no other does.
func TestServerCounters(t *testing.T) {
	ping := func(t *testing.T, c *client.Client, _ *memcachedtest.Server) { require.NoError(t, c.Ping(patient(t))) }
	stalled := memcachedtest.OnKey("k", memcachedtest.Answer().Stall(nil))
	for name, sc := range map[string]struct {
		cfg  client.Config
		do   func(t *testing.T, c *client.Client, srv *memcachedtest.Server)
		want client.ServerCounters
	}{
		"dial": {do: ping, want: client.ServerCounters{Dials: 1}},
		"client": {do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			ping(t, c, srv)
			require.NoError(t, c.Close())
		}, want: client.ServerCounters{Dials: 1, ClosedByClose: 1}},
		"failed dial": {do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			require.NoError(t, srv.Refuse(true))
			require.ErrorIs(t, c.Ping(patient(t)), client.ErrUnavailable)
		}, want: client.ServerCounters{FailedDials: 1}},
		"server": {do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			ping(t, c, srv)
			srv.CloseConns()
		}, want: client.ServerCounters{Dials: 1, ClosedByServer: 1}},
		"late reply": {do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: make([]byte, 1234)}))
			release := make(chan struct{})
			srv.SetScript(memcachedtest.OnKey("k", memcachedtest.Answer().Stall(release)))
			abandon(t, c, srv, "k", 2)
			close(release)
		}, want: client.ServerCounters{Dials: 1, Timeouts: 2, LateReplies: 2, Drained: 2 * 1234}},
		"stall": {cfg: client.Config{StallLimit: 50 * time.Millisecond}, do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			srv.SetScript(stalled)
			abandon(t, c, srv, "k", 1)
		}, want: client.ServerCounters{Dials: 1, Timeouts: 1, ClosedByStall: 1}},
		"debt": {cfg: client.Config{MaxDebt: 1}, do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			srv.SetScript(stalled)
			abandon(t, c, srv, "k", 2)
		}, want: client.ServerCounters{Dials: 1, Timeouts: 2, ClosedByDebt: 1}},
		"desync": {do: func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
			srv.SetScript(always(memcachedtest.Garbage()))
			require.ErrorIs(t, c.Ping(patient(t)), client.ErrDesync)
		}, want: client.ServerCounters{Dials: 1, ClosedByDesync: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			sc.cfg.ConnsPerServer, sc.cfg.OpTimeout = 1, -1
			onScript(t, memcachedtest.ServerOptions{}, sc.cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				sc.do(t, c, srv)
				eventually(t, "it is counted", func() bool { return c.Counters().Servers[srv.Addr()] == sc.want })
				n := c.Counters()
				require.Equal(t, sc.want.Dials, n.Dials)
				require.Equal(t, sc.want.Timeouts, n.Timeouts)
				require.Equal(t, sc.want.ClosedByDesync, n.Desyncs)
				require.Equal(t, sc.want.ClosedByServer+sc.want.ClosedByStall+sc.want.ClosedByDebt+sc.want.ClosedByDesync+sc.want.ClosedByClose, n.Losses)
				if n.Dials > 0 {
					require.NotZero(t, n.Enters)
					require.NotZero(t, n.BytesOut)
				}
			})
		})
	}
}

// The documentation of the package names every counter of a server.
func TestCountersAreDocumented(t *testing.T) {
	doc := packageDoc(t)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[client.ServerCounters]()) {
		require.Contains(t, doc, f.Name)
	}
}

// A server that is down is tried less and less often, and a server that is back
// is found within the longest pause, however long it was away.
func TestBackoffDoubles(t *testing.T) {
	inSim(t, func(t *testing.T, srv *memcachedtest.Server, c *client.Client, dials func() int) {
		require.NoError(t, srv.Refuse(true))
		for _, span := range []time.Duration{100 * time.Millisecond, time.Second, time.Minute} {
			before, begun := dials(), time.Now()
			for time.Since(begun) < span {
				require.ErrorIs(t, c.Ping(context.Background()), client.ErrUnavailable)
				time.Sleep(time.Millisecond)
			}
			n := dials() - before
			// Pauses are 5 to 10 ms at first, then twice that each time, up to 1 to 2 s.
			switch span {
			case 100 * time.Millisecond:
				require.True(t, 3 <= n && n <= 5, n)
			case time.Second:
				require.True(t, 2 <= n && n <= 5, n)
			default:
				require.True(t, 29 <= n && n <= 61, n)
			}
		}
		require.NoError(t, srv.Refuse(false))
		begun := time.Now()
		for c.Ping(context.Background()) != nil {
			require.Less(t, time.Since(begun), 3*time.Second)
			time.Sleep(time.Millisecond)
		}
		// And the pauses begin anew.
		srv.CloseConns()
		require.NoError(t, srv.Refuse(true))
		time.Sleep(time.Second)
		before := dials()
		for begun := time.Now(); time.Since(begun) < 100*time.Millisecond; time.Sleep(time.Millisecond) {
			require.Error(t, c.Ping(context.Background()))
		}
		require.Greater(t, dials(), before+2)
	})
}
