package ring

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// keepSendBuffer is the largest send buffer kept for the next send. An idle
// connection keeps none, see Engine.sweep.
const keepSendBuffer = 1 << 20

// conn is one socket on the ring.
//
// Ownership of its memory: pending belongs to mu. flying, with what is lent in it,
// and while armed either
// into or the part of window behind have, belong to the kernel from the moment
// their entry is filled until its completion is reaped. Everything else below the
// line is the driver's.
type conn struct {
	e    *Engine
	fd   int
	slot int
	gen  uint32
	h    transport.Handler

	mu      sync.Mutex
	pending transport.Outbox // queued, not yet given to the kernel
	flying  transport.Outbox // being sent, what is left of it
	msg     *message         // of a send in several pieces
	asked   int              // bytes that are being sent
	async   bool             // that send may wait in the kernel
	sending bool             // a send is in the kernel, of flying
	recall  canceling        // of that send, for a loan
	ahead   int              // sends that settle has found complete, whose completions are not reaped yet
	dirty   bool             // in Engine.dirty
	holds   bool             // in Engine.holding, or about to be
	used    bool             // something was queued since the last sweep
	blocked bool             // the socket was full: the next send may wait in the kernel
	dead    error            // set once: no more sends
	gone    atomic.Bool      // dead is set

	// The driver's.
	window []byte // the registered buffer
	fixed  bool   // window is registered under index slot
	more   bool   // the last receive got all that it asked for
	have   int    // bytes in window that the handler has not used
	into   []byte // the handler's memory, where the next bytes land instead
	armed  bool   // a receive is in the kernel
	rest   bool   // in Engine.resting
	ended  bool   // Handler.Closed was called

	diverted  atomic.Bool // into is wanted back
	canceling canceling   // of its receive
}

var _ transport.Conn = (*conn)(nil)

func (c *conn) Send(head, body, tail []byte, loan *transport.Loan) (int, error) {
	c.mu.Lock()
	if c.dead != nil {
		err := c.dead
		c.mu.Unlock()
		return 0, err
	}
	if n := c.pending.Len(); n > transport.MaxBacklog {
		c.mu.Unlock()
		return n, transport.ErrBacklog
	}
	c.pending.Append(head, body, tail, loan)
	queued := c.pending.Len()
	fresh, holds := !c.dirty, c.holds // one that is dirty holds buffers
	c.dirty, c.holds, c.used = true, true, true
	c.mu.Unlock()
	if fresh {
		c.e.markDirty(c, !holds)
	} else {
		c.e.crowded()
	}
	return queued, nil
}

func (c *conn) Retract(size, after int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending.Retract(size, after)
}

// Scrub implements [transport.Scrubber].
func (c *conn) Scrub() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending.Scrub()
	c.flying.Scrub()
}

// Ended asks the socket: the receive may not be armed again yet, or may have
// completed without anybody having reaped it.
func (c *conn) Ended() bool {
	c.mu.Lock() // for the descriptor, see die
	defer c.mu.Unlock()
	if c.dead != nil {
		return true
	}
	p := [1]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLRDHUP}} // the others come unasked, poll(2)
	n, err := unix.Poll(p[:], 0)
	return n == 1 && err == nil
}

// Close interrupts I/O by shutting the socket down: what is in the kernel then
// completes, and only after that may the descriptor be closed.
func (c *conn) Close() error {
	c.mu.Lock()
	first := c.dead == nil
	if first {
		c.die(transport.ErrClosed)
	}
	c.mu.Unlock()
	if first {
		c.e.noticeClose(c)
	}
	return nil
}

// die forbids further sends and has what is in the kernel complete. mu is held,
// which is what makes sure that the descriptor is still ours: see bury.
func (c *conn) die(err error) {
	c.dead = err
	c.gone.Store(true)
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
}
