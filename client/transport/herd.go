package transport

import (
	"sync"
	"sync/atomic"
)

// A Herd finds the sleeping waiters of one engine, to promote one of them or
// to end the sleep of those that are late.
//
// Joining costs one atomic load on the hot path: a waiter that has slept
// before is still listed from then, and entries whose waiter is awake are only
// dropped when the list has grown. A waiter may be listed while it is used for
// another wait, but never in two herds.
type Herd struct {
	mu    sync.Mutex
	n     atomic.Int32 // len(all), to be read without mu
	all   []*Waiter
	next  int // where Promote looks first, so that all get their turn
	sweep int // drop the awake when the list reaches this length
}

const minSweep = 64

// Add makes a parked waiter findable. Park comes before Add; then either Add
// finds w listed and whoever looks through the list later sees it parked, or
// Add lists it.
func (h *Herd) Add(w *Waiter) {
	if w.listed.Load() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.listed.CompareAndSwap(false, true) {
		return
	}
	if len(h.all) >= max(h.sweep, minSweep) {
		h.dropAwake()
		h.sweep = 2 * len(h.all)
	}
	h.all = append(h.all, w)
	h.n.Store(int32(len(h.all)))
}

// dropAwake forgets waiters that do not sleep. The order of the two steps
// matters: a waiter that parks in between sees itself unlisted and adds itself
// again, or is seen parked here and is kept.
func (h *Herd) dropAwake() {
	kept := h.all[:0]
	for _, w := range h.all {
		w.listed.Store(false)
		if w.state.Load()&parked != 0 && w.listed.CompareAndSwap(false, true) {
			kept = append(kept, w)
		}
	}
	clear(h.all[len(kept):])
	h.all = kept
	h.n.Store(int32(len(kept)))
	h.next = 0
}

// Promote hands the driver's role to one sleeping waiter, if there is any. If
// there is none the list is emptied, so that a lone caller after a crowd does
// not look through it each time.
func (h *Herd) Promote() bool {
	if h.n.Load() == 0 {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for range h.all {
		if h.next >= len(h.all) {
			h.next = 0
		}
		w := h.all[h.next]
		h.next++
		if w.Promote() {
			return true
		}
	}
	h.dropAwake()
	return false
}

// Expire ends the sleep of every waiter that is late at now, which [Now] tells. It
// returns the earliest deadline that is still ahead, or 0, and the number of
// sleepers left.
func (h *Herd) Expire(now int64) (next int64, asleep int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		d := w.Expire(now)
		if d > now && (next == 0 || d < next) {
			next = d
		}
		if w.state.Load()&parked != 0 {
			asleep++
		}
	}
	return next, asleep
}

// Asleep reports whether any waiter sleeps.
func (h *Herd) Asleep() bool {
	if h.n.Load() == 0 {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		if w.state.Load()&parked != 0 {
			return true
		}
	}
	return false
}
