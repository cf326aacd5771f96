package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A server that is stopped and goes on, under writes with short deadlines: those
// that are reported as not sent were never carried out, and taking requests back
// while the ones behind them go out costs no connection.
func TestNotSentIsTrue(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix", MemoryMiB: 256})
		c := dial(t, &client.Config{Engine: kind, StallLimit: -1, MaxDebt: -1}, mc.Addr())
		require.NoError(t, c.Ping(patient(t)))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		notSent := map[string]bool{}
		value := make([]byte, 20_000) // so that the socket is soon full
		for g := range 20 {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					key := fmt.Sprintf("k-%d-%d", g, i)
					ctx, cancel := context.WithTimeout(context.Background(), rand.N(3*time.Millisecond))
					if err := c.Set(ctx, client.Item{Key: key, Value: value}); client.SafeToRetry(err) {
						mu.Lock()
						notSent[key] = true
						mu.Unlock()
					}
					cancel()
				}
			})
		}
		for range 40 {
			assert.NoError(t, mc.Pause())
			time.Sleep(rand.N(10 * time.Millisecond))
			assert.NoError(t, mc.Resume())
			time.Sleep(rand.N(10 * time.Millisecond))
		}
		close(stop)
		wg.Wait()
		require.NoError(t, c.Ping(patient(t)))
		n := c.Counters()
		assert.Zero(t, n.Desyncs)
		assert.Zero(t, n.Losses)
		var keys []string
		for k := range notSent {
			keys = append(keys, k)
		}
		t.Logf("%d writes were not sent", len(keys))
		for it, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			t.Errorf("%s was stored, although its Set said that nothing was sent", it.Key)
		}
	})
}
