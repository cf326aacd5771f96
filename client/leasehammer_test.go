package client_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// sealed makes a value that names its key and has a checksum.
func sealed(key string, size int) []byte {
	v := append([]byte(key+"\n"), largeValue(size)...)
	return fmt.Appendf(v, "%08x", crc32.ChecksumIEEE(v))
}

func sealIntact(key string, v []byte) bool {
	n := len(v) - 8
	return n > 0 && bytes.HasPrefix(v, []byte(key+"\n")) && string(v[n:]) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(v[:n]))
}

// lessee holds a few leases at a time.
type lessee struct {
	t    *testing.T
	held []client.Lease
}

// hold keeps a lease, and releases another one that has been the lessee's meanwhile.
func (h *lessee) hold(l client.Lease) {
	assert.True(h.t, sealIntact(l.Key, l.Value), "not what is stored under %s", l.Key)
	if h.held = append(h.held, l); len(h.held) > 3 {
		h.release(rand.IntN(len(h.held)))
	}
}

func (h *lessee) release(i int) {
	l := h.held[i]
	h.held = slices.Delete(h.held, i, i+1)
	assert.True(h.t, sealIntact(l.Key, l.Value), "%s has changed while it was lent", l.Key)
	scribble(l.Value)
	assert.NoError(h.t, l.Release())
}

// Leases whose calls end at any time, most of all while the value is on its way
// into the memory that was to be lent: what is lent is lent to one caller only, and
// nobody else writes to it, neither a late reply nor another connection's value.
func TestLeasesWithRandomDeadlines(t *testing.T) {
	script := func(r memcachedtest.Request) memcachedtest.Action {
		if r.Command == "ms" {
			return memcachedtest.Answer()
		}
		a := memcachedtest.Answer().Delay(time.Millisecond + rand.N(2*time.Millisecond))
		return a.Chunks(1+rand.IntN(50<<10), 20<<10).Gap(rand.N(300 * time.Microsecond))
	}
	cfg := client.Config{DirectReceive: 1, OpTimeout: 20 * time.Second}
	onScript(t, memcachedtest.ServerOptions{Script: script, RecordLimit: -1}, cfg, func(t *testing.T, c *client.Client, _ *memcachedtest.Server) {
		keys := keysOf("key-%d", 8)
		for i, k := range keys { // of few classes, so that memory changes hands
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: sealed(k, 70<<10+i%3*60<<10+i)}))
		}
		var got, late atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				h := &lessee{t: t}
				for i := range 20 {
					limit := rand.N(8 * time.Millisecond)
					if i%4 == 0 {
						limit = 20 * time.Second
					}
					ctx, cancel := context.WithTimeout(context.Background(), limit)
					if rand.IntN(4) > 0 {
						l, err := c.GetLease(ctx, keys[rand.IntN(len(keys))])
						if err == nil {
							got.Add(1)
							h.hold(l)
						} else {
							late.Add(1)
							assert.ErrorIs(t, err, context.DeadlineExceeded)
						}
					} else {
						for l, err := range c.GetMultiLease(ctx, keys) {
							if err != nil {
								late.Add(1)
								assert.ErrorIs(t, err, context.DeadlineExceeded)
								continue
							}
							got.Add(1)
							h.hold(l)
							if rand.IntN(6) == 0 {
								break
							}
						}
					}
					cancel()
				}
				for len(h.held) > 0 {
					h.release(0)
				}
			})
		}
		wg.Wait()
		n := c.Counters()
		assert.NotZero(t, got.Load())
		assert.NotZero(t, late.Load())
		assert.Zero(t, n.Desyncs)
		assert.Zero(t, n.Losses, fmt.Sprintf("%+v", n))
	})
}
