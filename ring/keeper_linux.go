package ring

import (
	"errors"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
)

// A tick is a look at a ring that is in use; how soon the next one comes depends
// on what there is to look after.
type tick int32

const (
	noTick tick = iota
	// idleTick: nobody may be driving. If nobody has done anything since the
	// last tick, the ring's affairs are put in order and the keeper watches it.
	idleTick
	// waitTick: a driver waits. If it still does at the next tick it is roused,
	// to see whether it should wait on.
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

// keeper is the state of the goroutine that looks after a ring. While callers
// come and go it only ticks. When they have stopped coming it watches: it sleeps
// until something completes (a late reply, or a server that closes), with the
// alarm as the deadline of that sleep.
type keeper struct {
	watching atomic.Bool // changed by the keeper itself, under mu
	watch    pollWait
	timer    *time.Timer // the alarm while it does not watch
	stopped  chan struct{}
	gone     chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	at     atomic.Int64 // when the alarm rings, on transport.Now's clock; written under mu
	tick   atomic.Int32 // the tick that the alarm is set for
	looked atomic.Int64 // a recent time, if there is a tick: the last one's, or when it was set
}

func (k *keeper) init(watch pollWait) {
	k.watch = watch
	k.timer = time.NewTimer(math.MaxInt64)
	k.stopped, k.gone = make(chan struct{}), make(chan struct{})
	k.at.Store(never)
	k.watching.Store(true)
}

func (k *keeper) stop() {
	close(k.stopped)
	k.watch.close()
	<-k.gone
	k.timer.Stop()
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
		k.set()
	}
}

// set puts the alarm where the keeper sleeps. mu is held.
func (k *keeper) set() {
	d := time.Duration(math.MaxInt64)
	if at := k.at.Load(); at != never {
		d = time.Duration(max(at-transport.Now(), 0))
	}
	if k.watching.Load() {
		k.watch.limit(d)
	} else {
		k.timer.Reset(d)
	}
}

// turnTo makes the keeper watch, or only tick. Called by the keeper alone.
func (k *keeper) turnTo(watching bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watching.Load() != watching {
		k.watching.Store(watching)
		k.set()
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

// timeout tells how long a driver with that deadline may wait, or 0, without
// bound, if the ticks will see to it in time. It reads no clock in the common
// case: while a tick is set, looked is a good enough one.
func (k *keeper) timeout(deadline int64) time.Duration {
	if deadline == 0 || deadline-k.looked.Load() > int64(4*tickTime[waitTick]) {
		return 0
	}
	return time.Duration(max(deadline-transport.Now(), 1))
}

// sleep returns when the alarm has rung, or else something has completed, or
// with an error when the keeper is to end.
func (k *keeper) sleep() (rang bool, err error) {
	if !k.watching.Load() {
		select {
		case <-k.timer.C:
			rang = true
		case <-k.stopped:
			return false, os.ErrClosed
		}
	} else if err = k.watch.wait(); errors.Is(err, os.ErrDeadlineExceeded) {
		rang, err = true, nil
	}
	if rang {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.at.Store(never)
		k.tick.Store(int32(noTick))
		k.set()
		k.looked.Store(transport.Now())
	}
	return rang, err
}

// keep is the keeper's goroutine.
func (e *Engine) keep() {
	k := &e.keeper
	defer close(k.gone)
	var turns, enters uint64 // as of the last tick
	var swept int64
	for {
		rang, err := k.sleep()
		if err != nil {
			return
		}
		if rang {
			e.single.Store(runtime.GOMAXPROCS(0) == 1)
			next, _ := e.herd.Expire(k.looked.Load())
			k.alarm(next)
			idle := e.look(&turns, &enters)
			if now := k.looked.Load(); idle || now-swept >= int64(sweepEvery) {
				swept = now
				e.sweep(idle)
			}
			if !idle {
				continue
			}
		}
		if !e.driving.CompareAndSwap(false, true) {
			// Callers have come, and see to completions themselves.
			k.turnTo(false)
			k.ensureTick(idleTick)
			continue
		}
		e.q.armEvent(false)
		e.reap()
		e.turn(waitNot, nil, 0)
		if !rang && e.holdsBuffers() {
			k.ensureTick(idleTick) // a send may have been the last thing that was under way
		}
		k.turnTo(true)
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
	// What has come, or was closed, while nobody drives is not left for later.
	idle = !waits && (n == *enters || e.anyClosing.Load() || e.failed.Load() != nil || e.q.pending())
	*turns, *enters = t, n
	switch {
	case waits:
		e.keeper.ensureTick(e.waitTick())
	case !idle:
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
