package main

import (
	"sync"
	"time"
)

// stalls tells calls that were late because of memring from those that were because the machine had no time:
// then a timer of Go's that has nothing to do with memring is late as well, at the same time.
type stalls struct {
	mu      sync.Mutex
	machine []span // from when the timer should have come until it came
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

// inexcusable counts the calls that were too late even without the time in which the machine stood.
func (s *stalls) inexcusable() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		late := c.to - c.from
		for _, m := range s.machine { // in order, and one does not overlap the next
			late -= max(min(c.to, m.to)-max(c.from, m.from), 0)
		}
		if late > int64(lateLimit) {
			n++
		}
	}
	return n
}

// watchMachine notes when the machine stands, until stop is closed.
func (s *stalls) watchMachine(stop <-chan struct{}) {
	const nap = 2 * time.Millisecond
	for {
		due := now() + int64(nap)
		select {
		case <-stop:
			return
		case <-time.After(nap):
			s.machineStood(due, now())
		}
	}
}
