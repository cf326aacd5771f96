package client

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/reader"
)

// conn is one connection: the FIFO of requests whose replies are due, in the
// order in which they were sent, which is the only thing that says which reply
// is whose. The opaque and the key in the reply prove it.
//
// mu orders Send with the push onto the FIFO. The driver takes ops off without
// it: it swaps the whole list of those pushed (in) for its own (out) when that
// is used up.
type conn struct {
	p *pool
	t transport.Conn

	mu      sync.Mutex
	in      []*op
	unsent  []sending // what may still be in t's send buffer, oldest first
	scratch []byte
	opaque  uint32
	err     error // set by Closed: no more pushes
	pushed  int64 // when a request last found nothing outstanding; 0: never

	load atomic.Int32 // ops in the FIFO
	debt debt
	down atomic.Bool // Closed was called, or is sure to be

	cause   atomic.Pointer[ownCause]      // why we closed it ourselves
	version atomic.Pointer[serverVersion] // the server's; nil: nobody has asked yet

	// The driver's.
	parser   reader.Parser
	out      []*op
	head     int
	answered bool  // a reply has come whole
	crowded  bool  // more than fewOps were in the FIFO since the last trim
	ended    int32 // ops that left the FIFO in this window
}

// sending is a request on its way into the kernel. The op may have got its reply
// and be in use elsewhere by the time this is looked at, hence the copy of its
// size.
type sending struct {
	o    *op
	size int
}

var (
	_ transport.Handler = (*conn)(nil)
	_ reader.Queue      = (*conn)(nil)
)

var errConnDown = errors.New("connection is down")

// push queues o's bytes and appends o to the FIFO.
func (c *conn) push(o *op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.idle() && c.endedWhileIdle() {
		return errConnDown
	}
	opaque := c.reserve(o)
	o.describe(opaque)
	room := &c.scratch
	if o.run != nil && len(o.run.keys) > longKeys {
		room = longHeads.Get().(*[]byte)
		defer longHeads.Put(room)
	}
	head := o.appendHead((*room)[:0], opaque)
	*room = head
	var tail []byte
	if o.hasBody() {
		tail = crlf
	}
	o.c, o.on[0] = c, c.t
	o.size = len(head) + len(o.value) + len(tail)
	var loan *transport.Loan
	if least := c.p.srv.cl.cfg.DirectSend; least > 0 && len(o.value) >= least {
		loan = &o.loan
	}
	queued, err := c.t.Send(head, o.value, tail, loan)
	if err != nil {
		if errors.Is(err, transport.ErrBacklog) {
			return ErrOverloaded
		}
		c.down.Store(true) // or the next try would pick it again
		return errConnDown // Closed is on its way
	}
	c.unsent = append(c.trimUnsent(queued-o.size), sending{o, o.size})
	c.in = append(c.in, o)
	c.load.Add(1)
	return nil
}

// reserve returns the opaque for o, which is the first of as many in a row as o has
// requests. None is 0, which says that none was sent, and a row does not wrap around:
// the parser finds its place in it by subtraction. mu is held.
func (c *conn) reserve(o *op) uint32 {
	n := uint32(1)
	if o.run != nil {
		n = uint32(len(o.run.keys))
	}
	if c.opaque > math.MaxUint32-n {
		c.opaque = 0
	}
	first := c.opaque + 1
	c.opaque += n
	return first
}

// idleCheck is for how long a connection must have been idle for its next
// request to ask whether the server has closed it. The engines notice that by
// themselves, but up to some milliseconds later. It keeps the cost, a system
// call, away from callers that use a connection all the time, over whatever
// network.
const idleCheck = time.Millisecond

// idle reports whether nothing is outstanding, and has not been for some time. A
// connection that was never used is not idle: what the server says on it, before
// it closes it, is for whoever asks first. mu is held.
func (c *conn) idle() bool {
	if c.load.Load() != 0 {
		return false
	}
	last, now := c.pushed, transport.Now()
	c.pushed = now
	return last != 0 && now-last > int64(idleCheck)
}

// endedWhileIdle gives the connection up if the server has closed it. A request
// written now would be lost, and nobody could tell that it was. mu is held.
func (c *conn) endedWhileIdle() bool {
	if !c.t.Ended() {
		return false
	}
	c.giveUp(closedByServer, transport.ErrEOF)
	return true
}

// trimUnsent drops what has gone to the kernel for sure: all but the last queued
// bytes. mu is held.
func (c *conn) trimUnsent(queued int) []sending {
	keep := len(c.unsent)
	for ; keep > 0 && queued > 0; keep-- {
		queued -= c.unsent[keep-1].size
	}
	if keep == 0 {
		return c.unsent
	}
	n := copy(c.unsent, c.unsent[keep:])
	clear(c.unsent[n:])
	return c.unsent[:n]
}

// retract takes o back if none of its bytes has been given to the kernel. The
// op is still in the FIFO then, as a void that no reply belongs to.
func (c *conn) retract(o *op) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	after := 0
	for i := len(c.unsent) - 1; i >= 0; i-- {
		if c.unsent[i].o == o {
			o.void.Store(voiding)
			if !c.t.Retract(c.unsent[i].size, after) {
				o.void.Store(notVoid)
				return false
			}
			c.unsent = append(c.unsent[:i], c.unsent[i+1:]...)
			o.void.Store(voided)
			c.load.Add(-1)
			c.watchForStall()
			return true
		}
		after += c.unsent[i].size
	}
	return false
}

// Next takes the oldest op off the FIFO, for the parser. Voids are passed over.
func (c *conn) Next() reader.Slot {
	for {
		o := c.pop()
		if o == nil {
			return nil // no typed nil: the parser compares
		}
		if !c.isVoid(o) {
			c.ended++
			return o
		}
		o.eng.recycle(o)
	}
}

// isVoid reports whether o was retracted, and waits if that is being decided.
func (c *conn) isVoid(o *op) bool {
	v := o.void.Load()
	if v == voiding {
		c.mu.Lock()
		v = o.void.Load()
		c.mu.Unlock()
	}
	return v == voided
}

func (c *conn) pop() *op {
	if c.head == len(c.out) {
		c.mu.Lock()
		c.out, c.in = c.in, c.out[:0]
		c.mu.Unlock()
		c.head = 0
		if len(c.out) == 0 {
			return nil
		}
		c.crowded = c.crowded || len(c.out) > fewOps
	}
	o := c.out[c.head]
	c.out[c.head] = nil
	c.head++
	return o
}

// These bound what a connection keeps while nothing is outstanding, which may be
// for ever: some 2 KiB.
const (
	longKeys = 8  // requests for more keys are encoded in memory that connections share
	fewOps   = 8  // a FIFO that has had no more in it is left alone
	keptOps  = 64 // the room that is kept for others, for so many ops in each slice
)

var longHeads = sync.Pool{New: func() any { return new([]byte) }}

// trim gives memory back that a crowd has left, if nothing is outstanding. Driver
// only.
func (c *conn) trim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head < len(c.out) || len(c.in) > 0 {
		return // voids, or a new request
	}
	c.crowded = false
	clear(c.unsent) // the ops in it are others' by now
	c.unsent = c.unsent[:0]
	if max(cap(c.in), cap(c.out), cap(c.unsent)) > keptOps {
		c.in, c.out, c.head, c.unsent = nil, nil, 0, nil
	}
}

// Received parses what has come.
func (c *conn) Received(window []byte) (used int, into []byte, err error) {
	c.debt.heard.Add(1)
	used, err = c.parser.Parse(window, c)
	if s := c.parser.Slot(); s != nil {
		o := s.(*op)
		if least := c.p.srv.cl.cfg.DirectReceive; least > 0 && c.parser.ValueLeft() >= least {
			into = o.land()
		}
		o.release()
	}
	if c.ended > 0 {
		if c.load.Add(-c.ended) == 0 && c.crowded {
			c.trim()
		}
		c.ended = 0
	}
	if err != nil {
		c.down.Store(true)
	}
	return used, into, err
}

// Landed takes in what has come without a window. The value's op is the parser's
// until its last byte has come, so it is the one that has offered the place.
func (c *conn) Landed(n int) (into []byte, err error) {
	if n > 0 {
		c.debt.heard.Add(1)
	}
	o := c.parser.Slot().(*op)
	if err = c.parser.Landed(n); err == nil {
		into = o.landed(n)
		o.release()
	} else {
		c.down.Store(true)
	}
	return into, err
}

// Closed fails everything outstanding. Ops whose bytes the kernel has never
// seen are told so: they may be sent again elsewhere.
func (c *conn) Closed(err error) {
	c.down.Store(true)
	why := closedByServer
	own := c.cause.Load()
	closing := c.p.srv.cl.closed.Load()
	switch {
	case closing && errors.Is(err, transport.ErrClosed):
		why = closedClose // whatever it might have been closed for besides
	case own != nil:
		why, err = own.why, own.err
	case refusal(err, reader.ReasonUnauthenticated):
		err = fmt.Errorf("%w: %w: %w", ErrUnavailable, errNoCredentials, err)
	case refusal(err, reader.ReasonTooManyConns):
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	case errors.Is(err, reader.ErrDesync):
		why = closedDesync
	case c.debt.heard.Load() == 0 && !c.p.srv.cl.greets() && cutOff(err):
		err = c.p.srv.cl.wordless(err)
	case errors.Is(err, transport.ErrClosed):
		why = closedClose
	}
	c.p.lost(c, why, err)
	if why == closedClose && closing {
		err = ErrClosed
	} else {
		err = fmt.Errorf("%w: %w", ErrConnLost, err)
	}
	unknown := &connError{err: err, outcome: Unknown}
	notSent := &connError{err: err, outcome: NotSent}

	c.mu.Lock()
	c.err = errConnDown
	kept := make(map[*op]bool)
	for i := len(c.unsent) - 1; i >= 0 && c.t.Retract(c.unsent[i].size, 0); i-- {
		kept[c.unsent[i].o] = true
	}
	c.unsent = nil
	if t := c.debt.timer; t != nil {
		t.Stop()
		c.debt.timer = nil
	}
	c.mu.Unlock()

	if s := c.parser.Slot(); s != nil {
		s.(*op).fail(unknown)
	}
	for o := c.pop(); o != nil; o = c.pop() {
		switch {
		case c.isVoid(o):
			o.eng.recycle(o)
		case kept[o]:
			o.fail(notSent)
		default:
			o.fail(unknown)
		}
	}
	c.load.Store(0)
}

// refusal reports whether the server has closed a connection because it does not
// want any, or not ours.
func refusal(err error, reason string) bool {
	var d *reader.DesyncError
	return errors.As(err, &d) && d.Reason == reason
}

// connError is how a connection's end reaches its ops.
type connError struct {
	err     error
	outcome Outcome
}

func (e *connError) Error() string { return e.err.Error() }
func (e *connError) Unwrap() error { return e.err }
