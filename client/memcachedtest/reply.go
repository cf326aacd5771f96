package memcachedtest

import (
	"bytes"
	"sync"
	"time"
)

// backlogLimit bounds the replies that wait on a connection. Beyond it the
// server stops reading, as memcached does at once.
const backlogLimit = 1 << 16

// queuedReply is what is to be sent for one request, falsified as the script wants.
type queuedReply struct {
	Action
	data []byte
	due  time.Time // zero if at once
}

func newReply(a Action, answer []byte, arrived time.Time) queuedReply {
	data := answer
	if a.hasInstead {
		data = bytes.Clone(a.instead)
	}
	for _, edit := range a.edits {
		data = edit(data)
	}
	data = bytes.Repeat(data, 1+a.extra)
	if a.truncated {
		n := a.truncateAt
		if n < 0 {
			n += len(data)
		}
		data = data[:min(max(n, 0), len(data))]
	}
	r := queuedReply{Action: a, data: data}
	if a.delay > 0 {
		r.due = arrived.Add(a.delay)
	}
	return r
}

// plain replies can be written together with their neighbours.
func (r *queuedReply) plain() bool {
	return r.stall == nil && r.due.IsZero() && !r.swap && len(r.chunks) == 0 && r.end == keepOpen
}

// replyQueue writes replies in order, but for those that are to come out of it.
type replyQueue struct {
	sc   *serverConn
	mu   sync.Mutex
	cond *sync.Cond
	list []queuedReply
	done bool // nothing more is put
	dead bool // nothing more is written

	// writing has room for whoever writes: late replies are written from
	// goroutines of their own. It is no mutex, because a write may block, and
	// who waits for a mutex keeps the time of a synctest bubble from passing.
	writing chan struct{}
	late    sync.WaitGroup
	held    *queuedReply // swapped: goes behind the next; the writer's own
}

func newReplyQueue(sc *serverConn) *replyQueue {
	q := &replyQueue{sc: sc, writing: make(chan struct{}, 1)}
	q.cond = sync.NewCond(&q.mu)
	return q
}

// put queues a reply, or drops it if the connection no longer sends.
func (q *replyQueue) put(r queuedReply) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) >= backlogLimit && !q.dead {
		q.cond.Wait()
	}
	if !q.dead {
		q.list = append(q.list, r)
		q.cond.Broadcast()
	}
}

// finish lets run return once it has written what there is.
func (q *replyQueue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done = true
	q.cond.Broadcast()
}

// abandon drops what there is and all that comes.
func (q *replyQueue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead, q.list = true, nil
	q.cond.Broadcast()
}

// take returns all that is queued, or false at the end.
func (q *replyQueue) take() ([]queuedReply, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.done {
		q.cond.Wait()
	}
	list := q.list
	q.list = nil
	q.cond.Broadcast()
	return list, len(list) > 0
}

// run writes replies until the connection ends. Plain ones that are there
// together leave in one write, as memcached's do.
func (q *replyQueue) run() {
	defer q.late.Wait()
	var buf []byte
	for {
		list, ok := q.take()
		if !ok {
			return
		}
		for i := range list {
			r := &list[i]
			if r.plain() && q.held == nil {
				buf = append(buf, r.data...)
				continue
			}
			q.write(buf)
			buf = buf[:0]
			q.send(r)
		}
		q.write(buf)
		buf = buf[:0]
		if cap(buf) > 1<<20 {
			buf = nil
		}
	}
}

// send sends one reply when it is time, and what was held for it.
func (q *replyQueue) send(r *queuedReply) {
	switch {
	case r.late && !r.due.IsZero():
		q.late.Go(func() {
			if q.until(r.due) {
				q.emit(r)
			}
		})
	case q.held != nil && len(r.data) > 0:
		held := q.held
		q.held = nil
		q.timed(r)
		q.timed(held)
	case r.swap && len(r.data) > 0:
		q.held = r
	default:
		q.timed(r)
	}
}

func (q *replyQueue) timed(r *queuedReply) {
	if q.until(r.due) {
		q.emit(r)
	}
}

// until waits for a time, and reports whether there is still somebody to send
// to.
func (q *replyQueue) until(due time.Time) bool {
	if due.IsZero() {
		return true
	}
	return q.pause(time.Until(due))
}

func (q *replyQueue) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-q.sc.gone:
		return false
	}
}

// emit writes a reply in its pieces and ends the connection if that is wanted.
func (q *replyQueue) emit(r *queuedReply) {
	data := r.data
	if r.stall != nil {
		n := min(r.stallAt, len(data))
		q.pieces(r, data[:n])
		data = data[n:]
		select {
		case <-r.stall:
		case <-q.sc.gone:
			return
		}
	}
	q.pieces(r, data)
	q.sc.endNow(r.end)
}

func (q *replyQueue) pieces(r *queuedReply, data []byte) {
	for i := 0; len(data) > 0; i++ {
		n := len(data)
		if len(r.chunks) > 0 {
			n = min(n, max(r.chunks[i%len(r.chunks)], 1))
		}
		q.write(data[:n])
		data = data[n:]
		if len(data) > 0 && !q.pause(r.gap) {
			return
		}
	}
}

// write writes bytes. An error means that the peer has gone, which the reader
// notices as well.
func (q *replyQueue) write(p []byte) {
	if len(p) == 0 {
		return
	}
	q.writing <- struct{}{}
	defer func() { <-q.writing }()
	q.mu.Lock()
	dead := q.dead
	q.mu.Unlock()
	if !dead {
		_, _ = q.sc.c.Write(p)
	}
}
