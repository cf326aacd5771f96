package ring

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// Wait drives the ring, or sleeps while another caller does, until w is
// signalled.
func (e *Engine) Wait(w *transport.Waiter, _ []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	dl := transport.Nanos(deadline)
	lead := false
	for {
		if w.Take() {
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
		if !e.driving.Load() && (!e.parking() || e.work()) && w.Unpark() {
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
// The second makes the ring slow, see slowTime.
func (e *Engine) drive(w *transport.Waiter, dl int64, done <-chan struct{}) (over bool, err error) {
	e.q.armEvent(false)
	if c := done != nil; c != e.cancelable.Load() {
		e.cancelable.Store(c)
	}
	if e.q.ready() { // a server may have closed in the meantime
		e.reap()
	}
	for {
		if w.Take() {
			e.leave()
			return true, nil
		}
		if e.crowd.Load() == 0 && e.herd.Asleep() {
			e.crowded()
		}
		e.gather()
		parking := e.parking()
		n := e.turn(!parking, dl)
		if w.Take() {
			e.leave()
			return true, nil
		}
		if err = gaveUp(dl, done); err != nil {
			e.leave()
			return true, err
		}
		roused := e.roused.Load() && e.roused.Swap(false)
		if n == 0 && (roused || parking) {
			if roused {
				e.slow.Store(true)
			}
			e.leave()
			return false, nil
		}
	}
}

// A driver that waits in the kernel keeps a thread and Go's P with it, which is
// cheap for as long as a goroutine switch would take, and a nuisance to others
// for longer: with a caller blocked for 150 µs at a time, an unrelated goroutine
// that slept was woken 0.5 ms late instead of 0.1 ms. So a wait longer than
// slowTime makes the ring slow, and callers then leave the waiting to the
// keeper. A completion that comes within fastTime of that makes it fast again.
const (
	slowTime = 100 * time.Microsecond
	fastTime = 60 * time.Microsecond
)

// parking reports whether callers leave the waiting to the keeper: replies are
// slow, or Go has one P only, and a caller that blocked in the kernel would keep
// it from every other goroutine until sysmon takes it away, up to 10 ms later.
func (e *Engine) parking() bool { return e.slow.Load() || e.single.Load() }

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
//
// Work that is left over (see work) is nobody's business while nobody sleeps:
// the next caller submits it together with its own request, which saves a
// system call. But sleepers depend on it. A waiter that goes to sleep looks
// whether somebody drives, and if not, for work; and a driver that has left
// looks for sleepers once more: so one of the two sees the other.
func (e *Engine) leave() {
	for {
		parking := e.parking()
		if !parking && e.herd.Promote() {
			e.handovers.Add(1)
			return
		}
		if rest := len(e.resting) > 0; rest != e.unarmed.Load() {
			e.unarmed.Store(rest)
		}
		if parking && e.work() && e.herd.Asleep() {
			e.gather()
			e.turn(false, 0)
			continue
		}
		if e.work() {
			e.keeper.ensureTick(idleTick)
		}
		if parking {
			e.left.Store(transport.Now())
		}
		e.q.armEvent(true)
		e.driving.Store(false)
		if !e.q.ready() && (parking && !e.work() || !e.herd.Asleep()) {
			return
		}
		if !e.driving.CompareAndSwap(false, true) {
			return
		}
		e.q.armEvent(false)
		e.reap()
	}
}

// work reports whether a driver that has left has left something to submit.
func (e *Engine) work() bool { return e.unarmed.Load() || e.nDirty.Load() > 0 }
