package client_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Clients that come and go leave no descriptor and no mapping of theirs behind,
// however they were used last.
func TestNothingIsLeft(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Network: "unix", Script: memcachedtest.OnKey("stalled", memcachedtest.Answer().Stall(nil)),
		})
		use := func() {
			c, err := client.New([]string{srv.Addr(), "127.0.0.1:1"}, &client.Config{Engine: kind, Selector: first})
			require.NoError(t, err)
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: make([]byte, 100_000)}))
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			_, _ = c.Get(ctx, "stalled")
			cancel()
			go func() { _, _ = c.Get(context.Background(), "stalled") }()
			require.NoError(t, c.Close())
		}
		use() // makes what is made once in a process, such as Go's epoll
		srv.CloseConns()
		eventually(t, "the server's ends are closed", func() bool { return srv.OpenConns() == 0 })
		before := resources(t)
		for range 20 {
			use()
		}
		srv.CloseConns()
		eventually(t, "the server's ends are closed", func() bool { return srv.OpenConns() == 0 })
		eventually(t, fmt.Sprintf("back to %v", before), func() bool { return resources(t) == before })
	})
}

type firstServer struct{}

func (firstServer) Pick(string) int { return 0 }

func first([]string) client.Selector { return firstServer{} }

// resources counts the process's descriptors and the mappings that the kernel
// shares with an io_uring.
func resources(t *testing.T) [2]int {
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return [2]int{len(fds), strings.Count(string(maps), "io_uring")}
}

// When Close returns, the kernel has let go of every page that was pinned for
// the client: not some time later, when it gets round to the ring.
func TestNothingStaysPinned(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Network: "unix", Script: memcachedtest.OnKey("stalled", memcachedtest.Answer().Stall(nil)),
		})
		before := pinnedKiB(t)
		for range 20 {
			c, err := client.New([]string{srv.Addr()}, &client.Config{Engine: kind})
			require.NoError(t, err)
			require.NoError(t, c.Ping(patient(t)))
			if _, reason := c.Engine(); kind == client.URing && reason == nil {
				require.Greater(t, pinnedKiB(t), before, "the test does not see pinned pages")
			}
			done := make(chan error)
			asked := srv.RequestCount()
			go func() {
				_, err := c.Get(context.Background(), "stalled")
				done <- err
			}()
			require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > asked }))
			require.NoError(t, c.Close())
			require.Equal(t, before, pinnedKiB(t))
			require.ErrorIs(t, <-done, client.ErrClosed)
		}
	})
}

// pinnedKiB is the process's pinned memory, proc_pid_status(5).
func pinnedKiB(t *testing.T) (n int) {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(status), "VmPin:")
	require.True(t, ok)
	_, err = fmt.Sscan(rest, &n)
	require.NoError(t, err)
	return n
}
