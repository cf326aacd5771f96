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
