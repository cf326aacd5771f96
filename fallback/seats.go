package fallback

import (
	"sync/atomic"

	"github.com/memring/memring/client/transport"
)

// A seat holds a caller that sleeps on a connection. Whoever empties it with a
// compare-and-swap has decided what becomes of the sleeper: the sleeper itself
// when it wakes, or one that passes the baton on and then promotes it.
//
// The second happens under the connection's lock. So a sleeper that finds its
// seat taken goes through that lock once, and can't be promoted any more for a
// wait that is over.
type seat struct {
	w atomic.Pointer[transport.Waiter]
}

// leave empties the seat of w, and reports false if somebody else has.
func (s *seat) leave(w *transport.Waiter) bool { return s.w.CompareAndSwap(w, nil) }

// seats are the callers that sleep on one connection, in the order in which
// they came, which is about the order of their replies. Empty seats are among
// them, because a waking sleeper takes no lock; they are cleared from the front
// and, if that isn't enough, all at once when their number has doubled.
// The connection's lock guards it.
type seats struct {
	row    []*seat
	head   int // row[:head] is unused
	limit  int
	unused []*seat
}

const minSeats = 32

// add seats w, which has parked.
func (s *seats) add(w *transport.Waiter) *seat {
	for s.head < len(s.row) && s.row[s.head].w.Load() == nil {
		s.drop()
	}
	if len(s.row)-s.head >= max(s.limit, minSeats) {
		s.clear()
	}
	if len(s.row) == cap(s.row) && s.head > 0 {
		n := copy(s.row, s.row[s.head:])
		s.row = s.row[:n]
		s.head = 0
	}
	var t *seat
	if n := len(s.unused); n > 0 {
		t = s.unused[n-1]
		s.unused = s.unused[:n-1]
	} else {
		t = new(seat)
	}
	t.w.Store(w)
	s.row = append(s.row, t)
	return t
}

// drop removes the first seat, which is empty.
func (s *seats) drop() {
	s.unused = append(s.unused, s.row[s.head])
	s.head++
	if s.head == len(s.row) {
		s.row, s.head = s.row[:0], 0
	}
}

// clear removes all empty seats.
func (s *seats) clear() {
	kept := s.row[:0]
	for _, t := range s.row[s.head:] {
		if t.w.Load() == nil {
			s.unused = append(s.unused, t)
		} else {
			kept = append(kept, t)
		}
	}
	s.row, s.head = kept, 0
	s.limit = 2 * len(kept)
}

// promote wakes the first sleeper that can be woken to take the baton. There is
// none if s is nil.
func (s *seats) promote() bool {
	for s != nil && s.head < len(s.row) {
		w := s.row[s.head].w.Swap(nil)
		s.drop()
		if w != nil && w.Promote() {
			return true
		}
	}
	return false
}
