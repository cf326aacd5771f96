package fallback

import (
	"errors"
	"os"
	"time"

	"github.com/memring/memring/client/transport"
)

// The read baton. Its holder alone reads from the connection, owns the window
// and calls the Handler. It is taken and given back under conn.mu:
//
//   - a caller that finds it free takes it, and gives it back when its own wait
//     ends, for whatever reason;
//   - giving it back promotes a sleeper of the connection, if there is one. The
//     baton is free meanwhile and whoever comes first may take it; the promoted
//     caller then finds it held. If its own wait has ended, it gives it back
//     once more: so it is never free while a caller sleeps and none is on its
//     way to it;
//   - a keeper takes it if want > 0 and nobody else does, or when it was free
//     for some time;
//   - it is never given back once the connection has failed: finish.

// A hold is the caller that drives, as far as the clock needs to know it.
type hold struct {
	w    *transport.Waiter
	at   int64 // its deadline; 0 is never
	done <-chan struct{}
}

// over returns why the wait is over at now, or nil if it isn't.
func (h *hold) over(now int64) error {
	if h.at != 0 && h.at <= now {
		return transport.ErrTimeout
	}
	select {
	case <-h.done: // never, if nil
		return transport.ErrCanceled
	default:
		return nil
	}
}

// takeBatonLocked gives the free baton to a caller.
func (c *conn) takeBatonLocked(h hold) {
	c.baton = held
	c.hold = h
	if h.done != nil {
		c.polled = true
	}
	if c.watched == unwatched || h.done != nil && c.watched < fast {
		c.watchLocked(h.done != nil)
	}
}

// giveBackLocked is called by the holder when it is done.
func (c *conn) giveBackLocked() {
	c.baton = free
	c.hold = hold{}
	if c.err != nil || c.werr != nil {
		c.startKeeperLocked() // for the Closed call
		return
	}
	if c.interrupted {
		c.resumeLocked()
	}
	c.passLocked()
}

// passLocked finds a new holder for the baton, if it is free and wanted.
func (c *conn) passLocked() {
	if c.baton != free {
		return
	}
	if c.seats.promote() {
		c.handovers.Add(1)
		return
	}
	if c.want > 0 {
		c.startKeeperLocked()
		return
	}
	if c.watched < slow {
		c.watchLocked(false)
	}
}

// interruptLocked makes the holder's read return. The holder looks for the
// reason itself, so that a late interrupt does the next holder no harm.
func (c *conn) interruptLocked() {
	if !c.interrupted {
		c.interrupted = true
		_ = c.nc.SetReadDeadline(longAgo)
	}
}

// resumeLocked takes an interrupt back.
func (c *conn) resumeLocked() {
	c.interrupted = false
	_ = c.nc.SetReadDeadline(time.Time{})
}

// A stepResult is the outcome of one read.
type stepResult uint8

const (
	stepDone        stepResult = iota
	stepInterrupted            // nothing came, the holder shall look at itself
	stepEnd                    // the connection has ended, the baton is gone
)

// step reads once and delivers what came. The caller holds the baton.
func (c *conn) step() stepResult {
	where := c.window[c.have:]
	switch {
	case len(c.into) > 0:
		if c.takeDivert() {
			return c.after(c.landed(0))
		}
		where = c.into
	case c.window == nil:
		where = c.nook[:]
	}
	n, err := c.nc.Read(where)
	c.reads.Add(1)
	if n > 0 {
		if c.window == nil {
			c.wake()
			copy(c.window, c.nook[:n])
		}
		c.bytesIn.Add(uint64(n))
		deliver := c.deliver
		if len(c.into) > 0 {
			deliver = c.landed
		}
		if res := c.after(deliver(n)); res == stepEnd {
			return res
		}
	}
	switch {
	case err == nil:
		return stepDone
	case c.survives(err):
		return stepInterrupted
	}
	c.finish()
	return stepEnd
}

// after ends the connection if the handler has returned an error.
func (c *conn) after(err error) stepResult {
	if err == nil {
		return stepDone
	}
	c.fail(err)
	c.finish()
	return stepEnd
}

// deliver gives the window to the handler, after n bytes were added to it.
func (c *conn) deliver(n int) error {
	c.have += n
	used, into, err := c.h.Received(c.window[:c.have:c.have])
	if err != nil {
		return err
	}
	switch used {
	case c.have:
		c.have, c.into = 0, into
	case 0:
		if c.have == len(c.window) {
			return transport.ErrStuck
		}
	default:
		c.have = copy(c.window, c.window[used:c.have])
	}
	return nil
}

// landed tells the handler that n bytes have come to into.
func (c *conn) landed(n int) (err error) {
	c.into, err = c.h.Landed(n)
	return err
}

// takeDivert reports whether Divert was called, and forgets it. That comes before
// the call that it leads to: one that is forgotten after it may have been meant
// for the next landing. One that comes too late leads to a call for nothing.
func (c *conn) takeDivert() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.diverted
	c.diverted = false
	return d
}

// survives reports whether err is only an interrupt. If not, it makes it the
// connection's error, if that has none yet.
func (c *conn) survives(err error) bool {
	c.mu.Lock()
	late := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case c.err != nil:
	case c.werr == nil && late:
		c.resumeLocked()
		c.mu.Unlock()
		return true
	case c.werr != nil && !errors.Is(readError(err), transport.ErrEOF):
		err = c.werr
	default:
		err = readError(err)
	}
	c.mu.Unlock()
	c.fail(err)
	return false
}

// startKeeperLocked gives the free baton to a new keeper.
func (c *conn) startKeeperLocked() {
	c.baton = held
	c.hold = hold{}
	c.called, c.weary = c.want > 0, false
	c.eng.live.Add(1)
	go c.keep()
}

// keeper holds the baton while no caller does. On an idle connection it parks
// in a read, and so sees what the server does of its own accord, and drains late
// replies as fast as they come. Once a caller has come and something was
// delivered it makes room, except for callers that wait for several connections
// and rely on it.
func (c *conn) keeper() {
	defer c.eng.live.Done()
	for c.step() != stepEnd {
		c.mu.Lock()
		if c.called && c.want == 0 && c.err == nil && c.werr == nil {
			c.giveBackLocked()
			c.mu.Unlock()
			return
		}
		if c.weary {
			c.weary = false
			c.dropWindowLocked()
		}
		c.mu.Unlock()
	}
}
