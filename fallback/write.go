package fallback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

const (
	// crowdPatience is how often in a row a yield before a flush may bring no
	// further request, after a caller was seen to sleep here.
	crowdPatience = 4

	// maxRounds bounds the buffers that a caller writes for others before a
	// flusher goes on in its place: its own reply may have come.
	maxRounds = 16

	// maxKept is the capacity above which a buffer is not kept for reuse.
	maxKept = 1 << 20

	// lastWords is how long a connection that can't be written any more is
	// still read: the server may have said why, before it closed.
	lastWords = 5 * time.Millisecond

	flushChunk = 256 << 10

	// maxWrite bounds a write that does not wait.
	maxWrite = 1 << 30

	// maxPieces is the number of pieces that go into one write: requests with a
	// lent body take two each.
	maxPieces = 16
)

// batch is what goes into one write.
type batch struct {
	pieces   [maxPieces][]byte
	n        int
	flushing net.Buffers // the same, for a flusher: WriteTo consumes it
}

// writeLocked makes the caller the connection's writer, unless it has one, and
// writes what is pending until nothing is. Whoever adds to pend while there is
// a writer may rely on it. c.mu is released meanwhile.
//
// A write that would block, or that could, is left to a flusher: the server may
// be blocked in turn until somebody reads its replies, and the caller is the
// one who will.
func (c *conn) writeLocked() {
	if c.writing || c.pend.Len() == 0 || c.err != nil || c.werr != nil {
		return
	}
	c.writing = true
	if c.crowd > 0 {
		// Let callers that are about to send add their requests to this write.
		// It costs a lone caller CPU for nothing, so it needs evidence.
		before := c.pend.Len()
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
		if c.pend.Len() != before {
			c.crowd = crowdPatience
		} else {
			c.crowd--
		}
	}
	if c.raw == nil {
		c.startFlusherLocked()
		return
	}
	for range maxRounds {
		if !c.takeLocked() {
			c.writing = false
			return
		}
		pieces := c.piecesLocked(maxWrite)
		c.mu.Unlock()
		n, err := c.raw.try(pieces)
		c.mu.Lock()
		if !c.wroteLocked(n, err) {
			c.writing = false
			return
		}
		if c.flight.Len() > 0 {
			break
		}
	}
	c.startFlusherLocked()
}

// takeLocked moves pend into flight, if flight has left. It reports whether there
// is anything to write.
func (c *conn) takeLocked() bool {
	if c.err != nil || c.werr != nil {
		return false
	}
	if c.flight.Len() == 0 {
		c.flight.Reset(maxKept)
		c.flight, c.pend = c.pend, c.flight
	}
	return c.flight.Len() > 0
}

// piecesLocked returns what is to be written next, which nobody may change until
// wroteLocked.
func (c *conn) piecesLocked(most int) [][]byte {
	c.busy = true
	if c.batch == nil {
		c.batch = new(batch)
	}
	pieces := c.flight.Pieces(c.batch.pieces[:0], most)
	c.batch.n = len(pieces)
	return pieces
}

// wroteLocked accounts for a write of n bytes at the front of flight. It reports
// whether more may be written.
func (c *conn) wroteLocked(n int, err error) bool {
	c.writes.Add(1)
	c.bytesOut.Add(uint64(n))
	clear(c.batch.pieces[:c.batch.n]) // lent memory is kept alive no longer than needed
	c.busy = false
	c.flight.Left(n)
	if c.recall {
		c.recall = false
		_ = c.nc.SetWriteDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	c.flight.KeepWanted()
	if c.hold.w != nil && c.hold.w.Signalled() {
		c.interruptLocked() // a lender that drives is blocked in a read
	}
	if err != nil {
		c.failWriteLocked(err)
	}
	return err == nil
}

// failWriteLocked ends the connection, after it was given time to be read.
func (c *conn) failWriteLocked(err error) {
	if c.err != nil || c.werr != nil {
		return
	}
	c.werr = fmt.Errorf("send: %w", err)
	c.interrupted = true
	_ = c.nc.SetReadDeadline(time.Now().Add(lastWords))
	if c.baton == free {
		c.startKeeperLocked()
	}
}

// startFlusherLocked gives the writer's role to a new goroutine.
func (c *conn) startFlusherLocked() {
	if c.err != nil {
		c.writing = false
		return
	}
	c.eng.live.Add(1)
	go c.flush()
}

// flusher writes as a caller does, but waits for room.
func (c *conn) flusher() {
	defer c.eng.live.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.writing = false }()
	for c.takeLocked() {
		b := net.Buffers(c.piecesLocked(flushChunk))
		c.batch.flushing = b
		c.mu.Unlock()
		n, err := c.batch.flushing.WriteTo(c.nc)
		c.mu.Lock()
		if !c.wroteLocked(int(n), err) {
			return
		}
	}
}
