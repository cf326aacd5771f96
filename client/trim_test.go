package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// A connection that a crowd has used, and multi-gets with long lines, keeps little
// of their memory, and goes on.
func TestCrowdLeavesLittle(t *testing.T) {
	release := make(chan struct{}, 1)
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		Network: "unix", Script: memcachedtest.OnKey("stalled", memcachedtest.Answer().Stall(release)),
	})
	cl, err := New([]string{srv.Addr()}, &Config{Engine: Poll, ConnsPerServer: 1, OpTimeout: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, cl.Close()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, cl.Set(ctx, Item{Key: "k", Value: []byte("v")}))
	long := make([]string, 100)
	for i := range long {
		long[i] = fmt.Sprint(i, strings.Repeat("x", 200))
	}
	const callers = 2000
	for range 3 {
		var all sync.WaitGroup
		asked := srv.RequestCount()
		all.Go(func() { // so that all are outstanding at the same time
			_, err := cl.Get(ctx, "stalled")
			assert.ErrorIs(t, err, ErrNotFound)
		})
		require.NoError(t, srv.Wait(ctx, func() bool { return srv.RequestCount() > asked }))
		for range callers {
			all.Go(func() {
				it, err := cl.Get(ctx, "k")
				assert.NoError(t, err)
				assert.Equal(t, "v", string(it.Value))
			})
		}
		c := cl.servers[0].pools[0].slots[0].Load()
		for c.load.Load() < callers && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		release <- struct{}{}
		all.Wait()
		for _, err := range cl.GetMulti(ctx, long) {
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return max(cap(c.in), cap(c.unsent)) <= keptOps && cap(c.scratch) <= 4<<10
		}, 20*time.Second, time.Millisecond)
	}
}
