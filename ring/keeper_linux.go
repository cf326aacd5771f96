package ring

import (
	"errors"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/memring/memring/client/transport"
)

// A tick is a look at a ring that is in use; how soon the next one comes depends
// on what there is to look after.
type tick int32

const (
	noTick tick = iota
	// idleTick: the last caller has left, and if no other comes the ring's
	// affairs are put in order: receives armed, so that a close is noticed.
	idleTick
	// waitTick: a driver is in the kernel. If it is still there at the next tick
	// it is roused, to see whether it should wait on.
	waitTick
	// soonTick: the same, and its context can be cancelled.
	soonTick
)

// tickTime is when the next tick comes, by its kind. A driver notices what it is
// roused for after at most two of its ticks.
var tickTime = [...]time.Duration{
	idleTick: 10 * time.Millisecond,
	waitTick: 4 * time.Millisecond,
	soonTick: time.Millisecond,
}

const never = math.MaxInt64

// keeper is what its goroutine sleeps on: the eventfd, in Go's poller, with the
// alarm as its read deadline. Nothing is ever read from the eventfd: the poller
// is edge-triggered and each completion makes a new edge.
type keeper struct {
	f    *os.File
	rc   syscall.RawConn
	gone chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	at     atomic.Int64 // when the alarm rings, on transport.Now's clock; written under mu
	tick   atomic.Int32 // the tick that the alarm is set for
	looked atomic.Int64 // a recent time, if there is one: a tick's, or when it was set
}

func (k *keeper) init(f *os.File, rc syscall.RawConn) {
	k.f, k.rc, k.gone = f, rc, make(chan struct{})
	k.at.Store(never)
}

func (k *keeper) stop() {
	_ = k.f.Close()
	<-k.gone
}

// alarm makes the keeper look after the sleepers at the given time at the
// latest; 0 is never. In the common case it is a load and a comparison.
func (k *keeper) alarm(at int64) {
	if at == 0 || k.at.Load() <= at {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at.Load() > at {
		k.at.Store(at)
		_ = k.f.SetReadDeadline(time.Now().Add(time.Duration(at - transport.Now())))
	}
}

// ensureTick sets the alarm for a tick, if it is not set for one as early.
func (k *keeper) ensureTick(t tick) {
	for {
		old := k.tick.Load()
		if old >= int32(t) {
			return
		}
		if k.tick.CompareAndSwap(old, int32(t)) {
			now := transport.Now()
			k.looked.Store(now)
			k.alarm(now + int64(tickTime[t]))
			return
		}
	}
}

// timeout tells how long a driver with that deadline may wait in the kernel, or
// 0, without bound, if the ticks will see to it in time. It reads no clock in the
// common case: while a tick is set, looked is a good enough one.
func (k *keeper) timeout(deadline int64) time.Duration {
	if deadline == 0 || deadline-k.looked.Load() > int64(4*tickTime[waitTick]) {
		return 0
	}
	return time.Duration(max(deadline-transport.Now(), 1))
}

// silence takes the alarm off after it has rung.
func (k *keeper) silence() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at.Store(never)
	k.tick.Store(int32(noTick))
	_ = k.f.SetReadDeadline(time.Time{})
}

// keep is the keeper's goroutine. It drives when completions arrive and nobody
// else does, ends the sleep of waiters whose deadline has passed, and looks
// after the driver.
func (e *Engine) keep() {
	k := &e.keeper
	defer close(k.gone)
	event := func(uintptr) bool { return e.q.ready() && !e.driving.Load() }
	var turns, enters uint64 // as of the last tick
	for {
		err := k.rc.Read(event)
		idle := false
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			k.silence()
			k.looked.Store(transport.Now())
			e.single.Store(runtime.GOMAXPROCS(0) == 1)
			next, _ := e.herd.Expire(k.looked.Load())
			k.alarm(next)
			idle = e.look(&turns, &enters)
		case err != nil:
			return // closed
		}
		if err != nil && !idle || !e.driving.CompareAndSwap(false, true) {
			continue
		}
		e.q.armEvent(false)
		if e.slow.Load() && transport.Now()-e.left.Load() < int64(fastTime) {
			e.slow.Store(false)
		}
		e.reap()
		if idle {
			for _, c := range e.resting { // those that were in use
				c.dropBuffers()
			}
			e.turn(false, 0)
		}
		e.leave()
		enters = e.enters.Load()
	}
}

// look is what the keeper does at every tick. It reports whether the ring is
// idle, and sets the alarm for another tick if there is something to look after.
func (e *Engine) look(turns, enters *uint64) (idle bool) {
	t, n := e.turns.Load(), e.enters.Load()
	waits := e.inKernel.Load()
	if waits && t == *turns {
		e.roused.Store(true)
		e.nudge()
	}
	idle = !waits && n == *enters
	*turns, *enters = t, n
	switch {
	case waits:
		e.keeper.ensureTick(e.waitTick())
	case !idle && e.work():
		e.keeper.ensureTick(idleTick)
	}
	return idle
}

// waitTick is the tick that looks after the driver.
func (e *Engine) waitTick() tick {
	if e.cancelable.Load() {
		return soonTick
	}
	return waitTick
}
