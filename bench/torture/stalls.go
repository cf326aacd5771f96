package main

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// stalls tells calls that were late because of memring from those that were because the machine had no time:
// then some of the timers of Go's that have nothing to do with memring are late as well, at the same time.
type stalls struct {
	mu      sync.Mutex
	machine []span // from when a timer should have come until it came
	calls   []span // from a late call's deadline until its return
}

// span is a time on the clock of [now].
type span struct{ from, to int64 }

// shortest is what is worth a note of either kind.
const shortest = int64(5 * time.Millisecond)

func (s *stalls) machineStood(from, to int64) {
	if to-from >= shortest {
		s.mu.Lock()
		s.machine = append(s.machine, span{from, to})
		s.mu.Unlock()
	}
}

func (s *stalls) callWasLate(due, ended int64) {
	if ended-due > int64(lateLimit) {
		s.mu.Lock()
		s.calls = append(s.calls, span{due, ended})
		s.mu.Unlock()
	}
}

// unexplained counts the calls that were too late even without the time in which a timer stood.
func (s *stalls) unexplained() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.machine, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, c := range s.calls {
		late, until := c.to-c.from, c.from
		for _, m := range s.machine {
			from, to := max(m.from, until), min(m.to, c.to)
			if to > from { // what the one before it does not cover
				late -= to - from
				until = to
			}
		}
		if late > int64(lateLimit) {
			n++
		}
	}
	return n
}
