package client_test

import (
	"errors"
	"sync"

	"github.com/memring/memring/client"
)

// simLate compares the writes that callers gave up with the reports of how they
// ended, key by key.
type simLate struct {
	mu       sync.Mutex
	expected map[string]int
	reported map[string]int
}

// gaveUp notes a write whose call has ended, if a report is due.
func (l *simLate) gaveUp(call *simCall, key string) {
	if !call.gaveUp {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expected == nil {
		l.expected = make(map[string]int)
	}
	l.expected[key]++
}

// report is a Config.LateWrite.
func (l *simLate) report(s *sim) func(client.LateWrite) {
	l.reported = make(map[string]int)
	return func(w client.LateWrite) {
		l.mu.Lock()
		l.reported[w.Key]++
		l.mu.Unlock()
		outcome := simOutcome(w.Err)
		known := w.Err == nil
		for _, target := range []error{client.ErrNotFound, client.ErrNotStored, client.ErrConflict, client.ErrServer} {
			known = known || errors.Is(w.Err, target)
		}
		switch {
		case errors.Is(w.Err, client.ErrServer) && outcome == client.Unknown && w.Op == "delete":
			// another's of the same run, perhaps
		case known != (outcome == client.Answered):
			s.broken("late write: the outcome does not fit: %v", w.Err)
		case !known && s.gentle() && s.closeAt == 0:
			s.broken("late write: lost, and nothing breaks connections: %v", w.Err)
		case outcome == client.NotSent:
			s.broken("late write: it was given up as sent: %v", w.Err)
		}
	}
}

// audit is for when all late replies must have come.
func (l *simLate) audit(s *sim) {
	if l.reported == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, n := range l.reported {
		if n > l.expected[key] {
			s.broken("late write: %d reports for %d writes of %s", n, l.expected[key], key)
		}
	}
	if !s.gentle() || s.closeAt > 0 {
		return // others are not over
	}
	for key, n := range l.expected {
		if n > l.reported[key] {
			s.broken("late write: only %d reports for %d writes of %s", l.reported[key], n, key)
		}
	}
}
