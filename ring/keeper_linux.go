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

// tickTime is how often the keeper looks at a ring that is in use, and soonTime
// the same while a driver waits whose context can be cancelled. A driver that has
// been in the kernel since the last look is roused, to see whether it should
// still wait: so a blocked caller keeps a thread (and Go's P with it) no longer
// than two ticks, and notices a cancelled context as soon. After the last caller
// has left, one more tick puts the ring's affairs in order.
const (
	tickTime = 4 * time.Millisecond
	soonTime = time.Millisecond
)

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
	ticked atomic.Bool  // the alarm is set for a tick
	soon   atomic.Bool  // … within soonTime
	looked atomic.Int64 // when the last tick was
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

// ensureTick sets the alarm for a tick, if it is not.
func (k *keeper) ensureTick(soon bool) {
	switch {
	case soon && !k.soon.Load() && k.soon.CompareAndSwap(false, true):
		k.ticked.Store(true)
		k.alarm(transport.Now() + int64(soonTime))
	case !soon && !k.ticked.Load() && k.ticked.CompareAndSwap(false, true):
		k.alarm(transport.Now() + int64(tickTime))
	}
}

// timeout tells how long a driver with that deadline may wait in the kernel, or
// 0, without bound, if the ticks will see to it in time. It reads no clock in the
// common case: while the ring is in use the last tick is a good one.
func (k *keeper) timeout(deadline int64) time.Duration {
	if deadline == 0 || deadline-k.looked.Load() > int64(4*tickTime) {
		return 0
	}
	return time.Duration(max(deadline-transport.Now(), 1))
}

// silence takes the alarm off after it has rung.
func (k *keeper) silence() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at.Store(never)
	k.ticked.Store(false)
	k.soon.Store(false)
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
// idle, and sets the alarm for another tick if not.
func (e *Engine) look(turns, enters *uint64) (idle bool) {
	t, n := e.turns.Load(), e.enters.Load()
	waits := e.inKernel.Load()
	if waits && t == *turns {
		e.roused.Store(true)
		e.nudge()
	}
	idle = !waits && n == *enters
	*turns, *enters = t, n
	if !idle {
		e.keeper.ensureTick(waits && e.cancelable.Load())
	}
	return idle
}
