package fallback

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// Wait implements [transport.Engine].
func (e *Engine) Wait(w *transport.Waiter, on []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	h := hold{w: w, at: transport.Nanos(deadline), done: done}
	if len(on) == 1 {
		return e.waitOne(h, on[0].(*conn))
	}
	return e.waitMany(h, on)
}

// waitOne waits for one connection: its caller drives it or sleeps on it.
func (e *Engine) waitOne(h hold, c *conn) error {
	c.mu.Lock()
	c.writeLocked()
	for {
		// c.mu is held here.
		if h.w.Take() {
			c.mu.Unlock()
			return nil
		}
		if c.baton == free {
			c.takeBatonLocked(h)
			c.mu.Unlock()
			e.clock.need(h.at)
			alive, err := c.drive(h)
			c.mu.Lock()
			if alive {
				c.giveBackLocked()
			}
			if err != nil {
				c.mu.Unlock()
				return err
			}
			continue
		}
		if !h.w.Park(h.at) {
			continue
		}
		if c.seats == nil {
			c.seats = new(seats)
		}
		s := c.seats.add(h.w)
		c.called = true
		if c.hold.w != nil {
			c.crowd = crowdPatience
		}
		c.mu.Unlock()

		o := e.sleep(h)
		over, err := ended(h.w, o)
		if s.leave(h.w) && over {
			return err // nobody chose us to take the baton
		}
		c.mu.Lock()
		if over {
			if o.Lead {
				c.passLocked()
			}
			c.mu.Unlock()
			return err
		}
	}
}

// waitMany waits for several connections, or none. Its caller drives none of
// them: it would not notice, blocked in a read, that another connection's
// driver has signalled it. It is counted in each one's want instead, so that
// there is always a keeper where no other caller drives.
func (e *Engine) waitMany(h hold, on []transport.Conn) error {
	for _, x := range on {
		c := x.(*conn)
		c.mu.Lock()
		c.writeLocked()
		c.want++
		c.called = true
		if c.baton == free {
			c.startKeeperLocked()
		}
		c.mu.Unlock()
	}
	over, err := h.w.Take(), error(nil)
	for !over {
		if h.w.Park(h.at) {
			over, err = ended(h.w, e.sleep(h))
		} else {
			over = h.w.Take()
		}
	}
	for _, x := range on {
		c := x.(*conn)
		c.mu.Lock()
		c.want--
		c.mu.Unlock()
	}
	return err
}

// Wake implements [transport.Engine]. A caller takes the baton of a connection in
// the same critical section in which it has looked for its signal: so one that
// has not seen it is found here.
func (e *Engine) Wake(w *transport.Waiter) {
	if w.Signal() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.mu.Lock()
		if c.hold.w == w {
			c.interruptLocked()
		}
		c.mu.Unlock()
	}
}

// sleep sleeps after Park, findable by the clock.
func (e *Engine) sleep(h hold) transport.Outcome {
	if h.at != 0 {
		e.herd.Add(h.w)
		e.clock.need(h.at)
	}
	return h.w.Sleep(h.done)
}

// ended reports whether the wait of w is over after a sleep, and its result.
func ended(w *transport.Waiter, o transport.Outcome) (over bool, err error) {
	switch {
	case w.Take():
		return true, nil
	case o.Expired:
		return true, transport.ErrTimeout
	case o.Canceled:
		return true, transport.ErrCanceled
	}
	return false, nil
}

// drive reads until the caller's event has happened, or its wait is over for
// another reason, or the connection has ended: then the baton is gone, and
// alive is false. Otherwise the caller still holds the baton.
func (c *conn) drive(h hold) (alive bool, err error) {
	if c.window == nil {
		c.wake()
	}
	for {
		res := c.step()
		switch {
		case res == stepEnd:
			return false, nil
		case h.w.Signalled():
			return true, nil
		case res == stepInterrupted:
			if err := h.over(transport.Now()); err != nil {
				return true, err
			}
		}
	}
}
