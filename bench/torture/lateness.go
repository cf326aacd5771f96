package main

import (
	"sync/atomic"
	"time"
)

// lateness counts by how much calls returned after their deadline. It may be added to by many at once.
type lateness struct {
	buckets [latenessBuckets]atomic.Uint64
	n       atomic.Uint64
	over    atomic.Uint64 // by more than lateLimit
	max     atomic.Int64
}

const (
	latenessBuckets = 2000
	latenessStep    = 100 * time.Microsecond

	// lateLimit is from when on a call counts as late.
	lateLimit = 50 * time.Millisecond
	// hangLimit is from when on a call counts as hanging.
	hangLimit = 5 * time.Second
)

func (l *lateness) add(d time.Duration) {
	d = max(d, 0)
	l.n.Add(1)
	l.buckets[min(int(d/latenessStep), latenessBuckets-1)].Add(1)
	if d > lateLimit {
		l.over.Add(1)
	}
	for {
		m := l.max.Load()
		if int64(d) <= m || l.max.CompareAndSwap(m, int64(d)) {
			return
		}
	}
}

func (l *lateness) merge(o *lateness) {
	for i := range o.buckets {
		l.buckets[i].Add(o.buckets[i].Load())
	}
	l.n.Add(o.n.Load())
	l.over.Add(o.over.Load())
	l.max.Store(max(l.max.Load(), o.max.Load()))
}

// quantile returns the lateness that a share q of the calls did not exceed, rounded up.
func (l *lateness) quantile(q float64) time.Duration {
	want := uint64(q * float64(l.n.Load()))
	sum := uint64(0)
	for i := range l.buckets[:latenessBuckets-1] {
		if sum += l.buckets[i].Load(); sum > want {
			return min(time.Duration(i+1)*latenessStep, l.longest())
		}
	}
	return l.longest()
}

func (l *lateness) longest() time.Duration { return time.Duration(l.max.Load()) }
