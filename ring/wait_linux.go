package ring

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// Wait drives the ring, or sleeps while another caller does, until w is
// signalled.
func (e *Engine) Wait(w *transport.Waiter, _ []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	dl := transport.Nanos(deadline)
	lead := false // we have the driver's role
	for {
		if w.Take() {
			if lead && !e.dead.Load() {
				e.leave()
			}
			return nil
		}
		if e.dead.Load() {
			return transport.ErrClosed
		}
		if lead || e.driving.CompareAndSwap(false, true) {
			err := e.drive(w, dl, done)
			e.leave()
			return err
		}
		e.submitAside()
		if !w.Park(dl) {
			continue
		}
		e.herd.Add(w)
		e.keeper.alarm(dl)
		if (!e.driving.Load() || e.dead.Load()) && w.Unpark() {
			continue // the driver has just left: take the role
		}
		o := w.Sleep(done)
		lead = o.Lead
		if o.Expired || o.Canceled {
			signalled := w.Take()
			if lead && !e.dead.Load() {
				e.leave()
			}
			switch {
			case signalled:
				return nil
			case o.Expired:
				return transport.ErrTimeout
			default:
				return transport.ErrCanceled
			}
		}
	}
}

// Wake signals w, and wakes its caller if that is the driver.
func (e *Engine) Wake(w *transport.Waiter) {
	if !w.Signal() {
		e.nudge()
	}
}

// A driver that comes back from the kernel again and again without any completion is
// refused (EAGAIN, EBUSY), for want of memory most likely: it pauses. Signals have
// the same effect, but not that often.
const (
	refusedTurns = 8
	refusedPause = 100 * time.Microsecond
)

// drive does the driver's work until w is signalled or the caller gives up.
func (e *Engine) drive(w *transport.Waiter, dl int64, done <-chan struct{}) error {
	e.q.armEvent(false)
	if c := done != nil; c != e.cancelable.Load() {
		e.cancelable.Store(c)
	}
	if e.q.ready() { // a server may have closed in the meantime
		e.reap()
	}
	for vain := 0; !w.Take(); {
		if e.crowd.Load() == 0 && e.herd.Asleep() {
			e.crowded()
		}
		e.gather()
		reaped := e.reaped
		news := e.turn(e.waitKind(), w, dl)
		if w.Take() {
			return nil
		}
		if e.reaped != reaped {
			vain = 0
		} else if vain++; vain > refusedTurns {
			e.pauses++
			time.Sleep(refusedPause)
		}
		if news == 0 && e.roused.Load() && e.roused.Swap(false) {
			e.pace.Store(int32(slow))
		}
		if err := gaveUp(dl, done); err != nil {
			return err
		}
		if e.ending.Load() {
			return transport.ErrClosed
		}
		if err := e.lost.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// gaveUp tells whether a driver must stop waiting.
func gaveUp(dl int64, done <-chan struct{}) error {
	if done != nil {
		select {
		case <-done:
			return transport.ErrCanceled
		default:
		}
	}
	if dl != 0 && dl <= transport.Now() {
		return transport.ErrTimeout
	}
	return nil
}

// leave gives the driver's role up, see Engine. Receives that are not armed
// again yet, and sends that nobody waits for, are left to the next caller, who
// submits them together with its own request, or to a tick.
func (e *Engine) leave() {
	for {
		if e.herd.Promote() {
			e.handovers.Add(1)
			return
		}
		watched := e.keeper.watching.Load()
		if watched {
			if len(e.resting) > 0 || e.nDirty.Load() > 0 {
				e.keeper.ensureTick(idleTick)
			}
			e.q.armEvent(true)
		}
		e.driving.Store(false)
		if !e.herd.Asleep() && !(watched && e.stillReady()) {
			return
		}
		if !e.driving.CompareAndSwap(false, true) {
			return
		}
		e.q.armEvent(false)
		e.reap()
	}
}

// stillReady looks at the completion queue without the driver's role, which
// Close may have taken to unmap it.
func (e *Engine) stillReady() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.dead.Load() && e.q.pending()
}
