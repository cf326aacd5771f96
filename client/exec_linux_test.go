package client_test

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Programs that are started while a client is busy inherit nothing of it: no
// socket, no ring, no eventfd, and none of the mappings that go with a ring. It
// goes on as if nothing had been.
func TestChildInheritsNothing(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		before := inherited(t) // what this process was itself started with
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "unix", RecordLimit: -1})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second}, srv.Addr())
		ctx, stop := context.WithCancel(patient(t))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					assert.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: make([]byte, 100_000)}))
					_, err := c.Get(patient(t), "k")
					assert.NoError(t, err)
				}
			})
		}
		wg.Go(func() { // clients that come and go, so that there are always descriptors that are new
			for ctx.Err() == nil {
				other, err := client.New([]string{srv.Addr()}, &client.Config{Engine: kind})
				if assert.NoError(t, err) {
					assert.NoError(t, other.Ping(patient(t)))
					assert.NoError(t, other.Close())
				}
			}
		})
		for range 30 {
			if !assert.Equal(t, before, inherited(t)) {
				break
			}
		}
		stop()
		wg.Wait()
		n := c.Counters()
		require.Zero(t, n.Desyncs)
		require.Zero(t, n.Losses)
	})
}

// inherited counts what a child has: its descriptors in all, those of the kinds
// that a client uses, and mappings of rings.
func inherited(t *testing.T) map[string]int {
	fds, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").Output()
	require.NoError(t, err)
	maps, err := exec.Command("/bin/cat", "/proc/self/maps").Output()
	require.NoError(t, err)
	n := map[string]int{
		"descriptors": strings.Count(string(fds), "\n"),
		"ring maps":   strings.Count(string(maps), "io_uring"),
	}
	for _, kind := range []string{"socket:", "io_uring", "eventfd", "eventpoll"} {
		n[kind] = strings.Count(string(fds), kind)
	}
	return n
}
