package ring

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// fastTime is how fast a reply on a slow ring must be to make it a fast one
// again. Less than a slice, so that the ring does not flip to and fro.
const fastTime = sliceTime / 2

// Wait drives the ring, or sleeps while another caller does, until w is
// signalled.
func (e *Engine) Wait(w *transport.Waiter, _ []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	dl := transport.Nanos(deadline)
	lead := false
	var since int64
	if e.slow.Load() {
		since = transport.Now()
	}
	for {
		if w.Take() {
			if since != 0 && transport.Now()-since < int64(fastTime) {
				e.slow.Store(false)
			}
			if lead {
				e.leave()
			}
			return nil
		}
		if lead || e.driving.CompareAndSwap(false, true) {
			if over, err := e.drive(w, dl, done); over {
				return err
			}
		} else {
			e.submitAside()
		}
		if e.dead.Load() {
			return transport.ErrClosed
		}
		if !w.Park(dl) {
			lead = false
			continue
		}
		e.herd.Add(w)
		e.keeper.alarm(dl)
		if !e.driving.Load() && !e.slow.Load() && w.Unpark() {
			lead = false // the driver has just left: take the role
			continue
		}
		o := w.Sleep(done)
		lead = o.Lead
		if o.Expired || o.Canceled {
			signalled := w.Take()
			if lead {
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

// drive does the driver's work until w is signalled or the caller gives up
// (over is true), or until the wait has become so long that a thread should not
// be blocked for it (over is false). The role has been left in either case.
//
// The second makes the ring slow: callers then submit and leave the waiting to
// the keeper, in Go's poller, until a reply comes back fast again.
func (e *Engine) drive(w *transport.Waiter, dl int64, done <-chan struct{}) (over bool, err error) {
	e.q.armEvent(false)
	if e.q.ready() { // a server may have closed in the meantime
		e.reap()
	}
	for idle := 0; ; {
		if w.Take() {
			e.leave()
			return true, nil
		}
		e.gather()
		slow := e.slow.Load()
		n := e.turn(!slow)
		if w.Take() {
			e.leave()
			return true, nil
		}
		if n > 0 {
			idle = 0
		} else if idle++; idle >= 2 || slow {
			// Two slices, because a signal may have cut the first one short.
			e.slow.Store(true)
			e.leave()
			return false, nil
		}
		if err = gaveUp(dl, done); err != nil {
			e.leave()
			return true, err
		}
	}
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

// leave gives the driver's role up: to a sleeping waiter, or else to the keeper
// by arming the eventfd. See Engine for why the order of the steps matters.
func (e *Engine) leave() {
	for {
		slow := e.slow.Load()
		if !slow && e.herd.Promote() {
			e.handovers.Add(1)
			return
		}
		// Sleepers depend on receives being armed and on everything being
		// submitted. With none it can wait for the next caller, or the tick.
		if slow && (len(e.resting) > 0 || e.nDirty.Load() > 0) {
			e.gather()
			e.turn(false)
			continue
		}
		e.keeper.ensureTick()
		e.q.armEvent(true)
		e.driving.Store(false)
		if !e.q.ready() && (slow || !e.herd.Asleep()) {
			return
		}
		if !e.driving.CompareAndSwap(false, true) {
			return
		}
		e.q.armEvent(false)
		e.reap()
	}
}
