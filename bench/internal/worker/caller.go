package worker

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/memring/memring/bench/internal/peers"
)

// shift is what a slice tells each of its callers.
type shift struct {
	begin time.Time
	d     time.Duration
	stop  atomic.Bool // somebody failed
}

func (s *shift) over(now time.Time) bool { return now.Sub(s.begin) >= s.d || s.stop.Load() }

// call is one caller's share of a slice: operations one after the other. It reads the clock once an
// operation: the end of one is the beginning of the next.
func (l *load) call(i int, s *shift) (done, failed uint64, err error) {
	op, b := l.ops[i], &l.blocks[i]
	defer b.drain()
	now := time.Now()
	for {
		if err := op(); err != nil {
			return done, 0, err
		}
		done++
		end := time.Now()
		emptied := b.add(end.Sub(now))
		if s.over(end) {
			return done, 0, nil
		}
		if now = end; emptied {
			now = time.Now()
		}
	}
}

// follow is call for a slice that is recorded as a series, in which calls may fail and are counted, and for
// one with a fixed rate; to is nil if there is no series.
func (l *load) follow(i int, s *shift, to *series) (done, failed uint64, err error) {
	op, b := l.ops[i], &l.blocks[i]
	t := trail{s: to}
	b.longest = 0
	defer t.drain()
	defer b.drain()
	var pace *pacer
	if rate := l.spec.Case.Rate; rate > 0 {
		pace = newPacer(rate, i, len(l.ops))
	}
	for {
		var due time.Time
		if pace != nil {
			var ok bool
			if due, ok = pace.wait(s); !ok {
				return done, failed, nil
			}
		}
		begun := time.Now()
		if pace == nil {
			due = begun
		}
		err := op()
		if _, wrong := errors.AsType[*peers.WrongValueError](err); err != nil && (wrong || to == nil) {
			return done, failed, err
		}
		end := time.Now()
		if err != nil {
			failed++
		} else {
			done++
		}
		b.longest = max(b.longest, end.Sub(begun))
		b.add(end.Sub(due))
		if to != nil {
			t.add(end.Sub(s.begin), end.Sub(due), err != nil)
		}
		if s.over(end) {
			return done, failed, nil
		}
	}
}
