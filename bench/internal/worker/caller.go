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

// follow is call for a slice that is recorded as a series. Calls may fail here: that is counted.
func (l *load) follow(i int, s *shift, to *series) (done, failed uint64, err error) {
	op, b := l.ops[i], &l.blocks[i]
	t := trail{s: to}
	defer t.drain()
	defer b.drain()
	for {
		begun := time.Now()
		err := op()
		if _, wrong := errors.AsType[*peers.WrongValueError](err); wrong {
			return done, failed, err
		}
		end := time.Now()
		if err != nil {
			failed++
		} else {
			done++
		}
		b.add(end.Sub(begun))
		t.add(end.Sub(s.begin), end.Sub(begun), err != nil)
		if s.over(end) {
			return done, failed, nil
		}
	}
}
