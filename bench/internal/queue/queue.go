// Package queue hands requests over and has their callers woken, and does nothing else: what sharing a
// connection costs when the kernel's share is taken away. Three ways do the same: a caller's request goes
// into a queue in order, is done by somebody, and the caller goes on when it is.
package queue

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/memring/memring/client/transport"
)

// Queue is one way. HandOver returns when the request is done; any number of goroutines call it.
type Queue interface {
	HandOver()
	Close()
}

// Herd is memring's way, out of the same parts: requests go into a list under a lock, a caller that finds
// nobody driving drives itself, does what is there for everybody, and promotes one that sleeps when its own
// request is done. There is no goroutine but the callers.
type Herd struct {
	mu      sync.Mutex
	in      []*waiting // pushed and not taken yet
	out     []*waiting // the driver's
	crowd   int        // the driver's, see crowdMemory
	driving atomic.Bool
	herd    transport.Herd
	pool    sync.Pool
}

// crowdMemory is for how many batches without company a driver goes on to yield before each, so that other
// callers can add to it: as package ring does before it sends.
const crowdMemory = 16

type waiting struct{ w transport.Waiter }

// NewHerd makes one.
func NewHerd() *Herd {
	return &Herd{pool: sync.Pool{New: func() any {
		r := new(waiting)
		r.w.Init()
		return r
	}}}
}

// HandOver implements [Queue].
func (q *Herd) HandOver() {
	r := q.pool.Get().(*waiting)
	q.mu.Lock()
	q.in = append(q.in, r)
	q.mu.Unlock()
	for {
		if q.driving.CompareAndSwap(false, true) {
			q.drive(r)
			break
		}
		if !r.w.Park(0) {
			break
		}
		q.herd.Add(&r.w)
		if !q.driving.Load() && r.w.Unpark() {
			continue // the driver left before it could see us sleep
		}
		lead := r.w.Sleep(nil).Lead
		if r.w.Signalled() {
			if lead {
				q.herd.Promote() // it was too late for us: somebody else's turn
			}
			break
		}
	}
	r.w.Take()
	q.pool.Put(r)
}

// drive does requests in their order until r is done, and passes the role on.
func (q *Herd) drive(r *waiting) {
	for !r.w.Signalled() {
		if q.crowd > 0 {
			q.crowd--
			runtime.Gosched()
		}
		q.mu.Lock()
		q.out, q.in = q.in, q.out[:0]
		q.mu.Unlock()
		if len(q.out) > 1 {
			q.crowd = crowdMemory
		}
		for _, o := range q.out {
			o.w.Signal()
		}
	}
	q.driving.Store(false)
	q.herd.Promote()
}

// Close implements [Queue]: there is nothing to end.
func (q *Herd) Close() {}

// Channel is a goroutine that takes requests from a channel.
type Channel struct {
	requests chan *request
	ended    chan struct{}
	pool     sync.Pool
}

type request struct{ done chan struct{} }

func newRequest() any { return &request{make(chan struct{}, 1)} }

// queued is how many requests a channel holds: as many as callers, so that none waits to be queued.
const queued = 64

// NewChannel starts one.
func NewChannel() *Channel {
	q := &Channel{requests: make(chan *request, queued), ended: make(chan struct{}), pool: sync.Pool{New: newRequest}}
	go func() {
		defer close(q.ended)
		for r := range q.requests {
			r.done <- struct{}{}
		}
	}()
	return q
}

// HandOver implements [Queue].
func (q *Channel) HandOver() {
	r := q.pool.Get().(*request)
	q.requests <- r
	<-r.done
	q.pool.Put(r)
}

// Close implements [Queue].
func (q *Channel) Close() {
	close(q.requests)
	<-q.ended
}

// Cond is a goroutine that takes requests, all that are there at once, from a slice under a lock, and is
// woken by a condition variable.
type Cond struct {
	mu     sync.Mutex
	filled sync.Cond
	in     []*request
	closed bool
	ended  chan struct{}
	pool   sync.Pool
}

// NewCond starts one.
func NewCond() *Cond {
	q := &Cond{ended: make(chan struct{}), pool: sync.Pool{New: newRequest}}
	q.filled.L = &q.mu
	go q.run()
	return q
}

func (q *Cond) run() {
	defer close(q.ended)
	var out []*request
	for {
		q.mu.Lock()
		for len(q.in) == 0 && !q.closed {
			q.filled.Wait()
		}
		if len(q.in) == 0 {
			q.mu.Unlock()
			return
		}
		out, q.in = q.in, out[:0]
		q.mu.Unlock()
		for _, r := range out {
			r.done <- struct{}{}
		}
	}
}

// HandOver implements [Queue].
func (q *Cond) HandOver() {
	r := q.pool.Get().(*request)
	q.mu.Lock()
	q.in = append(q.in, r)
	q.mu.Unlock()
	q.filled.Signal()
	<-r.done
	q.pool.Put(r)
}

// Close implements [Queue].
func (q *Cond) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.filled.Signal()
	<-q.ended
}
