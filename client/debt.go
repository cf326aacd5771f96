package client

import (
	"fmt"
	"sync/atomic"
	"time"
)

// debt is what a connection owes: replies to requests whose callers have given
// up. The connection is kept, and new requests prefer others until it has paid.
// It is closed only if the debt grows beyond Config.MaxDebt, or if nothing at
// all has come for Config.StallLimit, which a timer sees. It starts when a caller
// gives up and runs while any reply is due: so an idle client notices a dead
// server too.
type debt struct {
	replies atomic.Int32
	timer   *time.Timer   // guarded by conn.mu
	heard   atomic.Uint32 // windows received, to tell a stall from slowness
	seen    uint32        // heard as of the timer's last look; the timer's
	looks   int           // without news, one after the other; the timer's
}

// stallLooks is how often the timer looks within Config.StallLimit.
const stallLooks = 8

// owes notes an abandoned op.
func (c *conn) owes() {
	n := c.debt.replies.Add(1)
	c.p.srv.counters.timeouts.Add(1)
	cfg := &c.p.srv.cl.cfg
	if cfg.MaxDebt > 0 && int(n) > cfg.MaxDebt {
		c.giveUp(closedDebt, fmt.Errorf("more than %d abandoned requests unanswered (Config.MaxDebt)", cfg.MaxDebt))
		return
	}
	c.mu.Lock()
	c.watchForStall()
	c.mu.Unlock()
}

// watchForStall starts the timer. mu is held.
func (c *conn) watchForStall() {
	limit := c.p.srv.cl.cfg.StallLimit
	if limit == 0 || c.err != nil || c.debt.timer != nil {
		return
	}
	c.debt.timer = time.AfterFunc(limit/stallLooks, c.lookForStall)
	c.debt.seen, c.debt.looks = c.debt.heard.Load(), 0
}

// paid notes that the late reply of an abandoned op has come.
func (c *conn) paid(bytes int) {
	c.debt.replies.Add(-1)
	c.p.srv.counters.lateReplies.Add(1)
	c.p.srv.counters.drained.Add(uint64(bytes))
}

// lookForStall is the timer's function.
func (c *conn) lookForStall() {
	limit := c.p.srv.cl.cfg.StallLimit
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &c.debt
	if c.err != nil || c.load.Load() == 0 && d.replies.Load() <= 0 {
		d.timer = nil
		return
	}
	if heard := d.heard.Load(); heard != d.seen {
		d.seen, d.looks = heard, 0
	} else if d.looks++; d.looks >= stallLooks {
		d.timer = nil
		c.giveUp(closedStall, fmt.Errorf("nothing came for %v (Config.StallLimit)", limit))
		return
	}
	d.timer.Reset(limit / stallLooks)
}

// giveUp closes the connection for a reason of ours.
func (c *conn) giveUp(why closeCause, err error) {
	c.cause.CompareAndSwap(nil, &ownCause{why, err})
	c.down.Store(true)
	_ = c.t.Close()
}

// ownCause is why we have closed a connection.
type ownCause struct {
	why closeCause
	err error
}
