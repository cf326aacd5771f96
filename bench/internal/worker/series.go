package worker

import (
	"sync/atomic"
	"time"
)

// Tick is what happened in one interval of a slice.
type Tick struct {
	Ops    uint64
	Errors uint64 // calls that failed
	Dials  uint64 // connections opened, as the server counts them
	P99    time.Duration
}

// series divides a slice into intervals of equal length. What happens after the last one counts into it.
type series struct {
	every time.Duration
	cells []cell
}

type cell struct {
	calls  *recorder // of all calls that ended in the interval
	errors atomic.Uint64
	dials  uint64 // the watch's own
}

func newSeries(every, whole time.Duration) *series {
	s := &series{every: every, cells: make([]cell, max(1, (whole+every-1)/every))}
	for i := range s.cells {
		s.cells[i].calls = newRecorder(tickDigits)
	}
	return s
}

// tickDigits is how exact an interval's latencies are: its few calls aren't worth more.
const tickDigits = 2

// at finds the interval of a moment, counted from the slice's beginning.
func (s *series) at(t time.Duration) *cell {
	return &s.cells[min(int(t/s.every), len(s.cells)-1)]
}

// ticks sums up, once all callers have drained what they kept.
func (s *series) ticks() []Tick {
	out := make([]Tick, len(s.cells))
	for i := range s.cells {
		c := &s.cells[i]
		failed := c.errors.Load()
		out[i] = Tick{Ops: c.calls.count() - failed, Errors: failed, Dials: c.dials, P99: c.calls.quantile(99)}
	}
	return out
}

// trail is one caller's part of a series: like a block, but for the interval under way.
type trail struct {
	s     *series
	cell  *cell
	calls block
}

// add records a call that has ended, at a moment counted from the slice's beginning.
func (t *trail) add(ended, took time.Duration, failed bool) {
	if c := t.s.at(ended); c != t.cell {
		t.drain()
		t.cell, t.calls.to = c, c.calls
	}
	t.calls.add(took)
	if failed {
		t.cell.errors.Add(1)
	}
}

func (t *trail) drain() {
	if t.cell != nil {
		t.calls.drain()
	}
}
