package ring

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/memring/memring/client/transport"
)

// fakeConn is the client's side of a connection in the test: it sends requests,
// matches replies to them by order, and knows what the peer must have been
// sent.
type fakeConn struct {
	score   *fakeScore
	driving *atomic.Int32 // handler calls under way in this engine

	mu     sync.Mutex
	c      *conn
	k      *fakeKernel
	seq    int
	expect []byte     // queued, and not arrived at the peer yet
	fifo   []*fakeReq // to be answered
	cur    *fakeReq   // whose payload is coming
	left   int        // of it
	endAt  int        // the reply at which the handler has had enough
	ended  int        // calls of Closed
	why    error
}

// fakeReq is one request.
type fakeReq struct {
	seq, size int
	wire      int               // its length in bytes
	w         *transport.Waiter // nil once its caller has given up
	done      bool
	err       error
	mem       []byte // where its payload lands
	leaving   bool   // its caller wants that to end
	body      []byte // lent, if not nil
	loan      transport.Loan
}

var errEnough = errors.New("handler had enough")

func (c *fakeConn) complain(format string, args ...any) { c.score.complain(format, args...) }

// send queues a request, the order of which mu keeps.
func (c *fakeConn) send(w *transport.Waiter, r *rand.Rand) (*fakeReq, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended > 0 {
		return nil, c.why
	}
	q := &fakeReq{seq: c.seq, size: r.IntN(2000), w: w}
	if r.IntN(20) == 0 {
		q.size = r.IntN(180 << 10) // more than a window holds
	}
	pad := r.IntN(100)
	if r.IntN(10) == 0 {
		pad = r.IntN(20000)
	}
	from := r.IntN(len(pattern) - pad)
	head := fmt.Appendf(nil, "%d %d ", q.seq, q.size)
	body := bytes.ReplaceAll(pattern[from:from+pad], []byte{'\n'}, []byte{' '})
	var loan *transport.Loan
	if r.IntN(3) == 0 {
		q.body, loan = body, &q.loan
	}
	tail := []byte{'\n'}
	q.wire = len(head) + len(body) + len(tail)
	if _, err := c.c.Send(head, body, tail, loan); err != nil {
		return nil, err
	}
	c.seq++
	c.expect = append(append(append(c.expect, head...), body...), tail...)
	c.fifo = append(c.fifo, q)
	return q, nil
}

// abandon is for a caller whose Wait has failed. The signal may have come all
// the same, and then it must be there to take. retract has the request taken
// back, if none of it is under way.
func (c *fakeConn) abandon(q *fakeReq, w *transport.Waiter, retract bool) (done, retracted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reclaim(q, w)
	if q.done {
		if !w.Take() {
			c.complain("a request is done, and nobody has signalled its waiter")
		}
		return true, false
	}
	if w.Signalled() {
		c.complain("a waiter was signalled for nothing")
	}
	q.w = nil
	i := slices.Index(c.fifo, q)
	if !retract || i < 0 {
		return false, false
	}
	after := 0
	for _, l := range c.fifo[i+1:] {
		after += l.wire
	}
	if !c.c.Retract(q.wire, after) {
		return false, false
	}
	if after+q.wire > len(c.expect) {
		c.complain("retracted what has arrived at the peer")
		return false, false
	}
	c.expect = slices.Delete(c.expect, len(c.expect)-after-q.wire, len(c.expect)-after)
	c.fifo = slices.Delete(c.fifo, i, i+1)
	return false, true
}

// arrived compares what the peer got with what was queued.
func (c *fakeConn) arrived(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !bytes.HasPrefix(c.expect, b) {
		c.complain("the peer got %d bytes that were not sent like that", len(b))
		return
	}
	c.expect = c.expect[len(b):]
}

func (q *fakeReq) finish(err error) {
	q.done, q.err = true, err
	if q.w != nil {
		q.w.Signal()
	}
}

// enter makes sure that no two handler calls overlap in an engine.
func (c *fakeConn) enter() func() {
	if c.driving.Add(1) != 1 {
		c.complain("handler calls overlap")
	}
	return func() { c.driving.Add(-1) }
}

func (c *fakeConn) Received(window []byte) (used int, into []byte, err error) {
	defer c.enter()()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended > 0 {
		c.complain("Received after Closed")
	}
	for {
		if c.cur == nil {
			n, err := c.header(window[used:])
			if n == 0 || err != nil {
				return used, nil, err
			}
			used += n
		}
		n := min(c.left, len(window)-used)
		if err = c.payload(window[used : used+n]); err != nil {
			return used, nil, err
		}
		used += n
		if c.left > 0 {
			return used, c.land(), nil
		}
		if err = c.complete(); err != nil {
			return used, nil, err
		}
	}
}

// payload takes in the next part of the current reply. mu is held.
func (c *fakeConn) payload(b []byte) error {
	at := c.cur.size - c.left
	if !bytes.Equal(b, payload(c.cur.seq, c.cur.size)[at:at+len(b)]) {
		c.complain("wrong payload of reply %d", c.cur.seq)
		return errEnough
	}
	c.left -= len(b)
	return nil
}

// complete ends the current reply. mu is held.
func (c *fakeConn) complete() error {
	q := c.cur
	c.cur = nil
	q.finish(nil)
	if q.seq == c.endAt {
		if c.endAt%2 == 0 {
			return errEnough
		}
		if c.c != nil {
			_ = c.c.Close()
		}
	}
	return nil
}

// header reads a reply's first line and returns its length, or 0 if it, or a
// payload to be had in one piece, is not complete.
func (c *fakeConn) header(b []byte) (int, error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return 0, nil
	}
	var seq, size int
	if _, err := fmt.Sscanf(string(b[:i]), "%d %d", &seq, &size); err != nil {
		c.complain("garbled reply %.40q", b[:i])
		return 0, errEnough
	}
	if len(c.fifo) == 0 || c.fifo[0].seq != seq || c.fifo[0].size != size {
		c.complain("reply %d (%d bytes) comes out of turn", seq, size)
		return 0, errEnough
	}
	if seq%2 == 0 && size < transport.WindowSize/2 && len(b) < i+1+size {
		return 0, nil
	}
	c.cur, c.left = c.fifo[0], size
	c.fifo = c.fifo[1:]
	return i + 1, nil
}

func (c *fakeConn) Closed(err error) {
	defer c.enter()()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended++; c.ended > 1 {
		c.complain("Closed was called %d times", c.ended)
	}
	if err == nil {
		c.complain("Closed without a reason")
	}
	if c.c != nil && c.c.e.lost.Load() != nil && !c.k.letsGo() {
		c.complain("Closed on a lost ring, before the kernel was made to let go of the handler's memory")
	}
	c.why = err
	if c.cur != nil {
		if c.cur.mem != nil {
			c.k.giveBack(c.cur.mem)
		}
		c.cur.finish(err)
		c.cur = nil
	}
	for _, q := range c.fifo {
		q.finish(err)
	}
	c.fifo = nil
}
