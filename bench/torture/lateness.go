package main

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// lateness counts by how much something came after its time. It may be added to by many at once.
type lateness struct {
	buckets [latenessBuckets]atomic.Uint64
	n       atomic.Uint64
	soon    atomic.Uint64 // by more than lateSoon
	over    atomic.Uint64 // by more than lateLimit
	max     atomic.Int64
}

const (
	latenessBuckets = 10_000 // up to a second
	latenessStep    = 100 * time.Microsecond

	// A call shall return within lateSoon of its deadline, but for one in a thousand, and each within
	// lateLimit, where the machine lets it.
	lateSoon  = 10 * time.Millisecond
	lateLimit = 50 * time.Millisecond
	// hangLimit is from when on a call counts as hanging.
	hangLimit = 5 * time.Second
)

func (l *lateness) add(d time.Duration) {
	d = max(d, 0)
	l.n.Add(1)
	l.buckets[min(int(d/latenessStep), latenessBuckets-1)].Add(1)
	if d > lateSoon {
		l.soon.Add(1)
	}
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
	l.soon.Add(o.soon.Load())
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

// controlTimers is how many goroutines wait for plain timers beside a load.
const controlTimers = 32

// control measures the machine until stop is closed: how late timers of Go's are that have nothing to do with
// memring, but go off at such times as the deadlines of calls. Calls can't be expected to be less late.
func control(l *lateness, s *stalls, r *rand.Rand, stop <-chan struct{}) {
	for {
		patience := shortPatience(r)
		due := now() + int64(patience)
		t := time.NewTimer(patience)
		select {
		case <-t.C:
			at := now()
			l.add(time.Duration(at - due))
			s.machineStood(due, at)
		case <-stop:
			t.Stop()
			return
		}
	}
}

// shortPatience is for calls that mostly time out in a bad hour: 0.3 ms to 45 ms, as often of either magnitude.
func shortPatience(r *rand.Rand) time.Duration {
	return time.Duration(math.Exp(r.Float64()*math.Log(150)) * float64(300*us))
}
