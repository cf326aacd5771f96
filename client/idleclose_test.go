package client_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A server that has closed idle connections costs no call an error, however soon
// the call comes after that: the engine need not have had the time to notice.
func TestClosedJustBefore(t *testing.T) {
	for _, conns := range []int{1, 8} { // more than a call makes attempts
		t.Run(fmt.Sprint(conns, " connections"), func(t *testing.T) {
			cfg := client.Config{ConnsPerServer: conns, OpTimeout: 20 * time.Second} // of thousands of calls at once
			onScript(t, memcachedtest.ServerOptions{}, cfg, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
				closed := 0
				for i := range 60 / conns {
					openAll(t, c, srv, conns)
					// Nobody reads a connection just after its use. Later somebody does.
					time.Sleep(time.Duration(i%6) * 3 * time.Millisecond)
					closed += srv.OpenConns()
					srv.CloseConns()
					require.NoError(t, srv.Wait(patient(t), func() bool { return srv.OpenConns() == 0 }))
					time.Sleep(2 * time.Millisecond) // so that it was idle, and not closed in the midst of use
					switch i % 3 {
					case 0:
						require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
					case 1:
						_, err := c.Get(patient(t), "k")
						require.NoError(t, err)
					case 2:
						require.NoError(t, firstError(c, patient(t), "k"))
					}
				}
				eventually(t, "every end is counted", func() bool {
					return c.Counters().Servers[srv.Addr()].ClosedByServer == uint64(closed)
				})
				require.Zero(t, c.Counters().Timeouts)
			})
		})
	}
}

// openAll has the client open all its connections and use each, by keeping the
// others busy.
func openAll(t *testing.T, c *client.Client, srv *memcachedtest.Server, conns int) {
	release := make(chan struct{})
	var mu sync.Mutex
	errs := make(chan error)
	calls, used := 0, make(map[int]bool)
	srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
		mu.Lock()
		used[r.Conn] = true
		mu.Unlock()
		return memcachedtest.Answer().Stall(release)
	})
	allUsed := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(used) == conns
	}
	for !allUsed() {
		calls++
		go func() { errs <- c.Delete(patient(t), "slow") }()
		time.Sleep(100 * time.Microsecond)
	}
	srv.SetScript(nil)
	close(release)
	for range calls {
		require.ErrorIs(t, <-errs, client.ErrNotFound)
	}
}
