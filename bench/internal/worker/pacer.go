package worker

import "time"

// pacer is one caller's timetable where requests are due at a fixed rate, whatever becomes of those
// before them. A call's latency counts from when it was due: one that waited for the caller to be done
// with its predecessor waited as well, as a user of a service behind it would have (wrk2 does the same).
// The runtime's timers may wake a caller a good part of a millisecond late, which is in every client's
// figures alike.
//
// The callers' timetables interleave: together they make rate requests a second, evenly spaced.
type pacer struct {
	first, step time.Duration
	n           int // requests so far
}

// newPacer is for the i-th of so many callers.
func newPacer(rate float64, i, callers int) *pacer {
	second := float64(time.Second)
	return &pacer{first: time.Duration(float64(i) / rate * second), step: time.Duration(float64(callers) / rate * second)}
}

// next says when the next request is due, counted from the slice's beginning.
func (p *pacer) next() time.Duration {
	p.n++
	return p.first + time.Duration(p.n-1)*p.step
}

// wait sleeps until the next request is due, unless that was in the past or the slice ends before. It
// returns when the request was due, and false at the slice's end.
func (p *pacer) wait(s *shift) (due time.Time, ok bool) {
	at := p.next()
	if at >= s.d {
		time.Sleep(time.Until(s.begin.Add(s.d))) // the others are still at work: the slice has its whole length
		return time.Time{}, false
	}
	due = s.begin.Add(at)
	time.Sleep(time.Until(due))
	return due, !s.over(time.Now())
}
