package ring

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// Send buffers grow with what is sent, and a connection that nobody uses any more
// gives its own back. The keeper sees to it by ticks: it sweeps through the
// connections that hold buffers, and those that nothing was queued on since the
// sweep before lose them. So it costs the callers a flag, idle connections
// nothing, and no connection a timer.

// sweepEvery is how far sweeps are apart: buffers go between once and twice that
// after their last use.
const sweepEvery = 20 * time.Millisecond

// sweep takes the buffers of connections that are idle; of all that send nothing
// just now, if the ring as a whole is.
func (e *Engine) sweep(idle bool) {
	e.mu.Lock()
	list := e.holding
	e.holding = nil
	e.mu.Unlock()
	kept := list[:0]
	for _, c := range list {
		if !c.dropBuffers(idle) {
			kept = append(kept, c)
		}
	}
	clear(list[len(kept):])
	if len(kept) == 0 {
		return // the list can have been long
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.holding = append(kept, e.holding...)
}

// dropBuffers gives the send buffers back, unless they are in use or, if it is not
// known that nobody is there, were of late. It reports whether the connection holds
// none any more.
func (c *conn) dropBuffers(idle bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used && !idle
	c.used = false
	if c.dead == nil && (used || c.dirty || c.sending || c.pending.Len()+c.flying.Len() > 0) {
		return false
	}
	if c.dead == nil {
		c.pending, c.flying, c.msg = transport.Outbox{}, transport.Outbox{}, nil
	}
	c.holds = false
	return true
}

// holdsBuffers reports whether any connection does.
func (e *Engine) holdsBuffers() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.holding) > 0
}
