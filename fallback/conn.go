package fallback

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
)

// A conn is one connection. Two roles exist, each held by at most one
// goroutine at a time: the writer (see write.go), and the holder of the read
// baton (see baton.go).
type conn struct {
	eng *Engine
	nc  net.Conn
	h   transport.Handler
	raw *rawWriter // nil if nc can't be written without blocking

	// The holder of the baton owns these. window is changed under mu besides.
	window []byte         // transport.WindowSize bytes, lent to the handler; nil while it rests, see rest.go
	nook   [nookSize]byte // what comes first after a rest
	have   int            // bytes at the front of window that were not used yet
	into   []byte         // where the next bytes land instead, see Handler.Received

	lends bool // Send may refer to bodies

	batch *batch // the writer's: the part of flight that is being written; nil while it rests

	keep  func() // c.keeper and c.flusher, made once so that starting them
	flush func() // allocates nothing

	mu sync.Mutex // guards all below

	pend    transport.Outbox // queued and not taken by the writer
	flight  transport.Outbox // what the writer has taken and not written
	writing bool             // the writer's role is taken
	busy    bool             // flight is being read by a write
	recall  bool             // the write deadline is set, for a loan
	crowd   int              // how many more fruitless yields to spend before a flush

	baton baton
	hold  hold   // the caller that holds the baton
	seats *seats // callers that sleep and can be promoted; nil if there were none since it rested
	want  int    // callers that wait for this connection among several

	called bool // a caller has waited since the keeper began
	weary  bool // the keeper shall rest

	watched     watched // by the clock
	moved       uint64  // reads and writes as of the clock's last look
	polled      bool    // since the clock looked, by a caller with a done channel
	idleSince   int64
	interrupted bool // the read deadline is set
	diverted    bool // into shall not be read into any more

	err  error // why it is closed or closing; nothing is queued any more
	werr error // why nothing can be written any more; what was sent is still read

	reads, writes, bytesIn, bytesOut, handovers atomic.Uint64
}

// A baton is the right to read from a connection and to call its Handler.
type baton uint8

const (
	free baton = iota
	held       // by a caller if hold.w is set, else by a keeper
	gone       // for good: Closed was called, or is about to be
)

var _ transport.Conn = (*conn)(nil)

func newConn(e *Engine, nc net.Conn, h transport.Handler) *conn {
	c := &conn{eng: e, nc: nc, h: h, raw: newRawWriter(nc)}
	c.lends = c.raw != nil || resumable(nc)
	c.keep = c.keeper
	c.flush = c.flusher
	return c
}

// Resumable is what a net.Conn that [Config].DialContext or [Engine.Adopt] brings may
// implement. Large bodies are then sent without being copied. Sockets need no such
// method.
type Resumable interface {
	net.Conn

	// ResumesWrites reports whether the connection can go on after a Write that a
	// deadline has cut short, as sockets can and TLS connections can't. It is asked
	// once, before anything is written.
	ResumesWrites() bool
}

func resumable(nc net.Conn) bool {
	r, ok := nc.(Resumable)
	return ok && r.ResumesWrites()
}

// Send implements [transport.Conn].
func (c *conn) Send(head, body, tail []byte, loan *transport.Loan) (queued int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	queued = c.flight.Len() + c.pend.Len()
	switch {
	case c.err != nil:
		return queued, c.err
	case c.werr != nil:
		return queued, c.werr
	case queued > transport.MaxBacklog:
		return queued, transport.ErrBacklog
	}
	if !c.lends {
		loan = nil
	}
	c.pend.Append(head, body, tail, loan)
	if c.watched == unwatched {
		c.watchLocked(false) // it holds buffers now
	}
	return c.flight.Len() + c.pend.Len(), nil
}

// Retract implements [transport.Conn]. What the writer has not taken is left
// in pend when the connection dies, so the answer stays true.
func (c *conn) Retract(size, after int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pend.Retract(size, after)
}

// Reclaim implements [transport.Conn].
func (c *conn) Reclaim(loan *transport.Loan, w *transport.Waiter) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pend.Keep(loan) || loan.Over() {
		return true
	}
	if c.busy && c.flight.Want(loan, w) {
		if !c.recall {
			c.recall = true
			_ = c.nc.SetWriteDeadline(longAgo)
		}
		return false
	}
	c.flight.Keep(loan)
	return true
}

// Scrub implements [transport.Scrubber].
func (c *conn) Scrub() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pend.Scrub()
	c.flight.Scrub()
}

// Divert implements [transport.Conn].
func (c *conn) Divert() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diverted = true
	if c.baton == held {
		c.interruptLocked()
	}
}

// Ended implements [transport.Conn].
func (c *conn) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil || c.werr != nil || c.raw != nil && c.raw.ended()
}

// Close implements [transport.Conn].
func (c *conn) Close() error {
	c.fail(transport.ErrClosed)
	return nil
}

// fail ends the connection with err, unless it has ended already. Whoever
// holds the baton is interrupted and makes the Closed call; if nobody does, a
// keeper is started for it, because the caller may be holding locks that the
// Handler needs.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	if c.baton == free {
		c.startKeeperLocked()
	}
	c.eng.live.Add(1)
	c.mu.Unlock()
	if c.raw != nil {
		c.closeNet()
		return
	}
	// The Close of a TLS connection writes, and may wait for it.
	_ = c.nc.SetDeadline(longAgo)
	go c.closeNet()
}

func (c *conn) closeNet() {
	_ = c.nc.Close()
	c.eng.live.Done()
}

// finish makes the Closed call. The caller holds the baton, which is never
// given back.
func (c *conn) finish() {
	c.mu.Lock()
	err := c.err
	c.baton = gone
	c.hold = hold{}
	c.mu.Unlock()
	c.h.Closed(err)
	c.eng.forget(c)
}

// addTo adds the connection's counts to n.
func (c *conn) addTo(n *transport.Counters) {
	n.Enters += c.reads.Load() + c.writes.Load()
	n.BytesIn += c.bytesIn.Load()
	n.BytesOut += c.bytesOut.Load()
	n.Handovers += c.handovers.Load()
}

// longAgo as a deadline interrupts at once.
var longAgo = time.Unix(1, 0)

// readError gives the error of a read the meaning that the seam documents.
func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return transport.ErrEOF
	case errors.Is(err, io.ErrUnexpectedEOF): // TLS without close_notify
		return fmt.Errorf("%w: %w", transport.ErrEOF, err)
	}
	return fmt.Errorf("receive: %w", err)
}
