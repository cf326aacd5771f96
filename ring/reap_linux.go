package ring

import "golang.org/x/sys/unix"

// reap takes in every completion and returns how much news there was: receives
// that completed and connections that ended. Driver only.
func (e *Engine) reap() (n int) {
	buried := e.buried
	defer func() { n += e.buried - buried }()
	for {
		ud, res, ok := e.q.pop()
		if !ok {
			if e.q.overflowed() && e.failed.Load() == nil {
				if _, err := e.k.wait(0, 0, 0); err != nil {
					e.fatal(err)
				} else if e.q.ready() {
					continue
				}
			}
			if e.q.dropped() && e.failed.Load() == nil {
				e.fatal(unix.EBADR)
			}
			break
		}
		e.reaped++
		switch c, kind := e.slots.owner(ud); {
		case c == nil:
			e.nops++
		case kind == opRecv:
			n++
			c.recvDone(res)
		case kind == opSend:
			c.sendDone(res)
		case kind == opCancelRecv, kind == opCancelSend:
			e.nops++
			c.cancelDone(kind, res)
		}
	}
	e.takeClosing()
	e.takeRecalling()
	return n
}

// takeClosing buries connections that were closed and have nothing in the
// kernel.
func (e *Engine) takeClosing() {
	if !e.anyClosing.Load() {
		return
	}
	e.mu.Lock()
	list := e.closing
	e.closing = nil
	e.anyClosing.Store(false)
	e.mu.Unlock()
	for _, c := range list {
		e.bury(c)
	}
}

// noticeClose brings a closed connection to the driver's notice.
func (e *Engine) noticeClose(c *conn) {
	e.mu.Lock()
	e.closing = append(e.closing, c)
	e.anyClosing.Store(true)
	e.mu.Unlock()
	e.nudge()
}

// fail ends c because of err; the first reason is the one reported. Driver
// only.
func (e *Engine) fail(c *conn, err error) {
	c.mu.Lock()
	if c.dead == nil {
		c.die(err)
	}
	c.mu.Unlock()
	e.bury(c)
}

// bury ends a dead connection for good as soon as the kernel holds nothing of
// it; until then its completions lead here again. Driver only.
func (e *Engine) bury(c *conn) {
	lost := e.lost.Load()
	c.mu.Lock()
	if c.ended || (c.armed || c.sending || c.ahead > 0) && lost == nil {
		c.mu.Unlock()
		return
	}
	c.ended = true
	e.buried++
	err := c.dead
	_ = unix.Close(c.fd) // under mu, where die would shut it down
	c.flying.Reset(0)
	c.mu.Unlock()

	c.h.Closed(err)

	e.mu.Lock()
	defer e.mu.Unlock()
	e.slots.give(c.slot, lost == nil)
	if e.closed && e.slots.used == 0 {
		close(e.drained)
	}
}
