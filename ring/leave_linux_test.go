package ring

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// The moments in which a wake-up could be lost are some nanoseconds long. These
// tests stop one party in the middle of them, at the keeper's lock, where leave
// sets a tick and Wait the alarm.

// stoppable is an engine over a fake kernel that makes no mistakes, without its
// keeper.
func stoppable(t *testing.T) *Engine {
	e, k, err := newFakeEngine(rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	*k.q = *newFakeQueue(8, 8)
	k.odds, k.calm = fakeOdds{}, true
	close(e.keeper.gone)
	t.Cleanup(func() {
		assert.NoError(t, e.Close())
		assert.NoError(t, unix.Close(k.efd))
	})
	return e
}

// whileLeaving calls do while a driver is about to leave and has found nobody
// to promote.
func whileLeaving(e *Engine, do func()) {
	e.driving.Store(true)
	e.q.armEvent(false)
	e.nDirty.Store(1)
	e.keeper.mu.Lock()
	left := make(chan struct{})
	go func() {
		defer close(left)
		e.leave()
	}()
	for e.keeper.tick.Load() == int32(noTick) {
		time.Sleep(100 * time.Microsecond)
	}
	do()
	e.keeper.mu.Unlock()
	<-left
	e.nDirty.Store(0)
}

func TestLeaveSeesSleeper(t *testing.T) {
	e := stoppable(t)
	w := new(transport.Waiter)
	w.Init()
	whileLeaving(e, func() {
		require.True(t, w.Park(0))
		e.herd.Add(w)
		require.True(t, e.driving.Load(), "so the sleeper relies on the driver")
	})
	require.False(t, w.Unpark(), "the sleeper was not woken")
	require.True(t, w.Sleep(nil).Lead)
	e.leave()
}

func TestLeaveSeesCompletion(t *testing.T) {
	e := stoppable(t)
	whileLeaving(e, func() { e.q.postCQE(cqeView{}) })
	require.Equal(t, 1, e.nops, "a completion that rang nothing lies in the queue")
}

// TestParkSeesLeaving: the driver has left before the sleeper could be found.
func TestParkSeesLeaving(t *testing.T) {
	e := stoppable(t)
	w := new(transport.Waiter)
	w.Init()
	e.driving.Store(true)
	e.keeper.mu.Lock()
	done := make(chan error)
	go func() { done <- e.Wait(w, nil, time.Now().Add(time.Minute), nil) }()
	for !e.herd.Asleep() {
		time.Sleep(100 * time.Microsecond)
	}
	e.driving.Store(false)
	e.keeper.mu.Unlock()
	assert.Eventually(t, e.driving.Load, 5*time.Second, time.Millisecond, "nobody drives and one sleeps")
	e.Wake(w)
	require.NoError(t, <-done)
}
