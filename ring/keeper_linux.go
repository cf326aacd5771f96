package ring

import (
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/memring/memring/client/transport"
)

// tickTime is how soon after the last caller has left the ring's affairs are
// put in order: receives armed, so that a server's close is noticed.
const tickTime = 10 * time.Millisecond

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
func (k *keeper) ensureTick() {
	if !k.ticked.Load() && k.ticked.CompareAndSwap(false, true) {
		k.alarm(transport.Now() + int64(tickTime))
	}
}

// silence takes the alarm off after it has rung.
func (k *keeper) silence() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at.Store(never)
	_ = k.f.SetReadDeadline(time.Time{})
}

// keep is the keeper's goroutine. It drives when completions arrive and nobody
// else does, and ends the sleep of waiters whose deadline has passed.
func (e *Engine) keep() {
	k := &e.keeper
	defer close(k.gone)
	var enters uint64
	for {
		err := k.rc.Read(func(uintptr) bool { return e.q.ready() && !e.driving.Load() })
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			k.silence()
			k.ticked.Store(false)
			next, _ := e.herd.Expire(transport.Now())
			k.alarm(next)
			if now := e.enters.Load(); now != enters {
				enters = now
				k.ensureTick() // not idle yet
				continue
			}
		case err != nil:
			return // closed
		}
		if !e.driving.CompareAndSwap(false, true) {
			continue
		}
		e.q.armEvent(false)
		e.reap()
		e.gather()
		if e.idleWork() {
			e.turn(false)
		}
		e.leave()
		enters = e.enters.Load()
	}
}

// idleWork reports whether there is something to submit.
func (e *Engine) idleWork() bool {
	return len(e.resting) > 0 || e.nDirty.Load() > 0
}
