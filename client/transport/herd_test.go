package transport

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHerdPromotesEachOnce(t *testing.T) {
	var h Herd
	ws := make([]*Waiter, 3)
	for i := range ws {
		ws[i] = newWaiter()
		require.True(t, ws[i].Park(0))
		h.Add(ws[i])
		h.Add(ws[i])
	}
	assert.Len(t, h.all, 3, "adding again does nothing")
	for range ws {
		assert.True(t, h.Promote())
	}
	assert.False(t, h.Promote(), "nobody is left")
	for _, w := range ws {
		assert.Equal(t, Outcome{Lead: true}, w.Sleep(nil))
	}
}

func TestHerdExpire(t *testing.T) {
	var h Herd
	now := Now()
	late, soon, never := newWaiter(), newWaiter(), newWaiter()
	for w, at := range map[*Waiter]int64{late: now, soon: now + int64(time.Minute), never: 0} {
		require.True(t, w.Park(at))
		h.Add(w)
	}
	next, asleep := h.Expire(now)
	assert.Equal(t, now+int64(time.Minute), next)
	assert.Equal(t, 2, asleep)
	assert.True(t, late.Sleep(nil).Expired)
}

func TestHerdForgetsTheAwake(t *testing.T) {
	var h Herd
	sleeper := newWaiter()
	require.True(t, sleeper.Park(0))
	h.Add(sleeper)
	for range 10 * minSweep {
		w := newWaiter()
		require.True(t, w.Park(0))
		h.Add(w)
		require.True(t, w.Unpark())
	}
	assert.LessOrEqual(t, len(h.all), 2*minSweep, "the list grows without bound")
	assert.True(t, h.Promote())
	assert.True(t, sleeper.Sleep(nil).Lead, "the only sleeper was forgotten")
}

// Callers take the driver's role, or sleep until they are promoted to it, and
// promote somebody when they leave it. It must never be lost: everybody is
// served, however the list is swept meanwhile.
func TestHerdNeverLosesTheRole(t *testing.T) {
	const callers, waits = 3 * minSweep, 50
	var (
		h    Herd
		role atomic.Bool
		wg   sync.WaitGroup
	)
	leave := func() {
		role.Store(false)
		// Between the two a caller may take the role and leave it, finding
		// nobody asleep: the order of Park and its second look covers that.
		h.Promote()
	}
	for i := range callers {
		wg.Go(func() {
			w := newWaiter()
			for range waits {
				for !role.CompareAndSwap(false, true) {
					require.True(t, w.Park(0))
					h.Add(w)
					if !role.Load() && w.Unpark() {
						continue
					}
					w.Sleep(nil)
				}
				if i%2 == 0 {
					runtime.Gosched()
				}
				leave()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		panic("the role was lost: callers sleep and nobody drives")
	}
}
