package transport

import (
	"sync/atomic"
	"time"
)

// A Waiter is what one caller waits on: a binary event plus the state of the
// goroutine behind it. [Waiter.Signal] is for handlers; the rest is for engines.
// Make it ready with [Waiter.Init]; it may be reused for any number of waits, one
// at a time, and must only ever be used with one engine.
type Waiter struct {
	// The state is a set of bits. Exactly one party clears the parked bit, and who
	// clears it sends the one token into wake (or, if that is the sleeper itself,
	// sends none): so wake never holds a stale token, and a sleeper that finds the
	// bit gone knows that a token is on its way.
	state    atomic.Uint32
	listed   atomic.Bool  // in its engine's Herd
	deadline atomic.Int64 // as Nanos; 0 is never
	wake     chan struct{}
}

const (
	signalled = 1 << iota // the event has happened
	parked                // the goroutine sleeps, or is about to
	promoted              // asked to drive
	expired               // its deadline has passed
)

// Init makes w ready for use. Calling it again does nothing.
func (w *Waiter) Init() {
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
	}
}

// Signal marks the event as happened and wakes the waiting goroutine, if it
// sleeps. It reports whether it did wake one.
func (w *Waiter) Signal() bool { return w.post(signalled, 0) }

// Promote asks a sleeping goroutine to drive. It reports whether there was
// one: if so, the driver's role is its own from now on.
func (w *Waiter) Promote() bool { return w.post(promoted, parked) }

// Expire ends the sleep of a goroutine whose deadline is not after now, which
// [Now] tells. It returns the deadline, or 0 if w does not sleep or has none.
func (w *Waiter) Expire(now int64) (deadline int64) {
	if w.state.Load()&parked == 0 {
		return 0
	}
	deadline = w.deadline.Load()
	if deadline != 0 && deadline <= now {
		w.post(expired, parked)
	}
	return deadline
}

// post sets bit if all of need is set, and wakes the sleeper if there is one.
func (w *Waiter) post(bit, need uint32) (woke bool) {
	for {
		s := w.state.Load()
		if s&need != need {
			return false
		}
		if w.state.CompareAndSwap(s, (s|bit)&^parked) {
			if s&parked != 0 {
				w.wake <- struct{}{}
				return true
			}
			return false
		}
	}
}

// Take reports whether the event has happened, and forgets it.
func (w *Waiter) Take() bool {
	return w.state.Load()&signalled != 0 && w.state.And(^uint32(signalled))&signalled != 0
}

// Signalled reports whether the event has happened, without taking it.
func (w *Waiter) Signalled() bool { return w.state.Load()&signalled != 0 }

// Park announces that the caller is going to sleep, so that it can be promoted
// and expired. It fails if the event has happened. After it, the caller makes
// w findable and either sleeps or calls Unpark. The deadline is as [Nanos] gives
// it, 0 for never.
func (w *Waiter) Park(deadline int64) bool {
	w.deadline.Store(deadline)
	for {
		s := w.state.Load()
		if s&signalled != 0 {
			return false
		}
		if w.state.CompareAndSwap(s, s|parked) {
			return true
		}
	}
}

// Unpark takes Park back. It fails if another party has ended the sleep
// already; then the caller must Sleep, which returns without delay.
func (w *Waiter) Unpark() bool {
	for {
		s := w.state.Load()
		if s&parked == 0 {
			return false
		}
		if w.state.CompareAndSwap(s, s&^parked) {
			return true
		}
	}
}

// An Outcome says why a sleep ended. Several bits may hold at once; a caller
// that is given Lead has the driver's role and must drive or pass it on,
// whatever else is true.
type Outcome struct {
	Lead     bool // promoted
	Expired  bool // its deadline has passed
	Canceled bool // done was closed
}

// Sleep blocks after Park until the event happens, or the caller is promoted
// or expired, or done is closed. It may also end for no reason, with the zero
// Outcome. The event itself is left for Take.
func (w *Waiter) Sleep(done <-chan struct{}) Outcome {
	var o Outcome
	if done == nil {
		<-w.wake
	} else {
		select {
		case <-w.wake:
		case <-done:
			o.Canceled = true
			if w.Unpark() {
				return o
			}
			<-w.wake
		}
	}
	s := w.state.Load()
	if s&(promoted|expired) == 0 {
		return o
	}
	w.state.And(^uint32(promoted | expired)) // nobody sets them on one that is awake
	o.Lead = s&promoted != 0
	// Expire reads the deadline and posts in two steps, and w may have begun
	// another wait in between: then the sleep has ended for no reason.
	d := w.deadline.Load()
	o.Expired = s&expired != 0 && d != 0 && d <= Now()
	return o
}

// epoch anchors Nanos; a monotonic clock needs one. It lies before the year 2000,
// in which the bubbles of testing/synctest begin, so that a time in a bubble,
// which has no monotonic part, is positive as well.
var epoch = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Now is the monotonic clock in nanoseconds, as Waiters count deadlines.
func Now() int64 { return int64(time.Since(epoch)) }

// Nanos converts a deadline to that clock. The zero Time gives 0, never.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(int64(t.Sub(epoch)), 1)
}
