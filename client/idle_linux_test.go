package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// An idle connection may cost its receive buffer, of 64 KiB, and so many bytes
// besides; its goroutine's stack, where it has one, counts by itself.
const (
	idleHeap  = 4 << 10
	idleStack = 4 << 10
)

// Idle connections keep neither send buffers nor, on the heap, receive buffers,
// however large what was sent on them. If the send buffers were kept it would be
// 106 KiB a connection, and with receive buffers on the heap 66 KiB.
func TestIdleMemory(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		const conns = 500
		// memring opens as many connections as it has servers here: many names of one.
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
		dir, err := os.MkdirTemp("", "idle") // a path of TempDir can be too long for a socket's name
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		names := make([]string, conns)
		for i := range names {
			link := filepath.Join(dir, strconv.Itoa(i))
			require.NoError(t, os.Symlink(strings.TrimPrefix(mc.Addr(), "unix:"), link))
			names[i] = "unix:" + link
		}
		next := new(turns)
		c := dial(t, &client.Config{
			Engine: kind, Rings: 1, ConnsPerServer: 1, DirectSend: -1,
			Selector: func([]string) client.Selector { return next },
		}, names...)
		ctx, value := patient(t), make([]byte, 100<<10)
		mostStack := idleStack
		if raceEnabled { // whose frames are larger: many stacks need the next size, 8 KiB
			mostStack = 2 * idleStack
		}
		heap, stack := goMemory()
		next.of = conns
		for range conns {
			require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: value}))
		}
		for range conns {
			_, err := c.Get(ctx, "k")
			require.NoError(t, err)
		}
		require.EqualValues(t, conns, c.Counters().Conns)
		var per string
		defer func() { t.Log(per) }()
		eventually(t, "the memory is given back", func() bool {
			h, s := goMemory()
			per = fmt.Sprintf("heap %d, stack %d bytes a connection", (h-heap)/conns, (s-stack)/conns)
			return h-heap <= idleHeap*conns && s-stack <= mostStack*conns
		})
	})
}

// turns has connections take turns, whatever the key.
type turns struct {
	of   uint64
	turn atomic.Uint64
}

func (s *turns) Pick(string) int { return int((s.turn.Add(1) - 1) % s.of) }

// goMemory is what is alive on the heap, and the stacks of goroutines, in bytes.
func goMemory() (heap, stacks int) {
	runtime.GC() // what is in a sync.Pool survives one
	runtime.GC()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return int(s[0].Value.Uint64()), int(s[1].Value.Uint64())
}
