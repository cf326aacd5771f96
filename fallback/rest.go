package fallback

import "github.com/memring/memring/client/transport"

// A connection that nobody uses rests: it has no send buffers and no window, only
// its keeper, which reads into the nook until the server says something. So it
// costs some KiB, most of them the keeper's. The clock notices, within twice
// idleAfter, that nothing has been read or written.

// nookSize takes a short reply whole. What is longer needs another read, once.
const nookSize = 64

// restLocked gives up what an idle connection doesn't need. The clock calls it, so
// the window is not its own if there is a keeper, who is told instead. It returns
// when to look again, as tick does: not at all, unless callers sleep here, whose
// seats are still to be cleared away.
func (c *conn) restLocked(now int64) (next int64) {
	for _, b := range []*transport.Outbox{&c.pend, &c.flight} {
		if b.Len() == 0 {
			*b = transport.Outbox{}
		}
	}
	if !c.writing {
		c.batch = nil
	}
	switch {
	case c.baton == free:
		c.dropWindowLocked()
	case c.window != nil:
		c.weary = true
		c.interruptLocked()
	}
	c.watched = unwatched
	if c.seats == nil {
		return 0
	}
	if c.seats.clear(); len(c.seats.row) > 0 {
		c.watched = slow
		return now + 4*int64(idleAfter)
	}
	c.seats = nil
	return 0
}

// dropWindowLocked gives the window back if there is nothing in it. The baton is
// the caller's, or free.
func (c *conn) dropWindowLocked() {
	if c.window != nil && c.have == 0 && len(c.into) == 0 {
		c.eng.windows.Put((*[transport.WindowSize]byte)(c.window))
		c.window = nil
	}
}

// wake gets a window. The caller holds the baton.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.window = c.eng.windows.Get().(*[transport.WindowSize]byte)[:]
	if c.watched == unwatched {
		c.watchLocked(false)
	}
}
