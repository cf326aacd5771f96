package fallback

import (
	"fmt"
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

	// maxKeptIdle is the same for a connection that nobody uses.
	maxKeptIdle = 16 << 10

	// lastWords is how long a connection that can't be written any more is
	// still read: the server may have said why, before it closed.
	lastWords = 5 * time.Millisecond

	flushChunk = 256 << 10
)

// writeLocked makes the caller the connection's writer, unless it has one, and
// writes what is pending until nothing is. Whoever adds to pend while there is
// a writer may rely on it. c.mu is released meanwhile.
//
// A write that would block, or that could, is left to a flusher: the server may
// be blocked in turn until somebody reads its replies, and the caller is the
// one who will.
func (c *conn) writeLocked() {
	if c.writing || len(c.pend) == 0 || c.err != nil || c.werr != nil {
		return
	}
	c.writing = true
	if c.crowd > 0 {
		// Let callers that are about to send add their requests to this write.
		// It costs a lone caller CPU for nothing, so it needs evidence.
		before := len(c.pend)
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
		if len(c.pend) != before {
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
		c.mu.Unlock()
		n, err := c.raw.try(c.rest)
		c.mu.Lock()
		if !c.wroteLocked(n, err) {
			c.writing = false
			return
		}
		if len(c.rest) > 0 {
			break
		}
	}
	c.startFlusherLocked()
}

// takeLocked moves pend into rest, if rest is used up. It reports whether
// there is anything to write.
func (c *conn) takeLocked() bool {
	if c.err != nil || c.werr != nil {
		return false
	}
	if len(c.rest) > 0 {
		return true
	}
	if cap(c.base) > cap(c.spare) && cap(c.base) <= maxKept {
		c.spare = c.base[:0]
	}
	c.base = nil
	if len(c.pend) == 0 {
		return false
	}
	c.base, c.pend, c.spare = c.pend, c.spare[:0], nil
	c.rest = c.base
	c.flight = len(c.rest)
	return true
}

// wroteLocked accounts for a write of a front part of rest. It reports whether
// more may be written.
func (c *conn) wroteLocked(n int, err error) bool {
	c.writes.Add(1)
	c.bytesOut.Add(uint64(n))
	c.rest = c.rest[n:]
	c.flight -= n
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
		part := c.rest[:min(len(c.rest), flushChunk)]
		c.mu.Unlock()
		n, err := c.nc.Write(part)
		c.mu.Lock()
		if !c.wroteLocked(n, err) {
			return
		}
	}
}
