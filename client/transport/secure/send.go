package secure

import "github.com/memring/memring/client/transport"

// The sending side. Requests wait as they are until somebody waits for a reply, and
// are encrypted then, all in one: so those that come together share records, and one
// that nobody waits for yet can be taken back. How they share them is said at queue.

const (
	// sealAtOnce is the size from which on a body is encrypted by Send itself, which
	// saves copying it: that of a record.
	sealAtOnce = 16 << 10

	// keptPlain is how much memory a connection keeps for its next requests.
	keptPlain = 4 << 10

	// maxAnswers bounds what a read may write before a request is sent behind it.
	maxAnswers = 64 << 10
)

// Send implements [transport.Conn]. The loan is over at once.
func (c *conn) Send(head, body, tail []byte, _ *transport.Loan) (queued int, err error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.dead != nil {
		return c.plain.Len(), c.dead
	}
	c.recount()
	if c.full() {
		return c.plain.Len() + c.sealed, transport.ErrBacklog
	}
	size := len(head) + len(body) + len(tail)
	c.queue.add(size)
	if len(body) < sealAtOnce {
		c.plain.Append(head, body, tail, nil)
		c.dirty.Store(true)
		return c.plain.Len() + c.flights.left(c.sealed), nil
	}
	c.plain.Append(head, nil, nil, nil)
	if err := c.sealLocked(body, tail); err != nil {
		c.plain.Retract(len(head), 0)
		c.queue.remove(size, 0)
		return c.plain.Len(), err
	}
	return c.flights.left(c.sealed), nil
}

// recount asks the inner connection what it still has queued, by a Send of nothing.
func (c *conn) recount() {
	if c.sealed > 0 {
		c.sealed, _ = c.on[0].Send(nil, nil, nil, nil) // an error comes again
	}
}

// full reports whether more is queued than a connection may have. Since all that is
// queued here is encrypted in one go, and nobody else sends, the inner connection has
// no more queued then than now: it does not refuse it.
func (c *conn) full() bool { return c.plain.Len()+c.sealed > transport.MaxBacklog }

// flush encrypts what is queued and hands it on. It reports whether there was anything.
func (c *conn) flush() bool {
	if !c.dirty.Load() {
		return false
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.plain.Len() == 0 {
		if !c.wire.written() { // another caller has handed it on
			c.cleanLocked()
			return false
		}
		c.recount()
	}
	if c.dead != nil || c.plain.Len() == 0 && c.sealed > transport.MaxBacklog {
		return false // answers can wait
	}
	// Dirty until it is handed on: who finds nothing to flush waits at once, and relies
	// on the inner connection's having the request whose reply it waits for.
	err := c.sealLocked(nil, nil)
	c.cleanLocked()
	return err == nil // if not, the connection's end tells it
}

// cleanLocked notes that there is nothing to flush, but what rest has seen meanwhile.
func (c *conn) cleanLocked() {
	c.dirty.Store(false)
	if c.wire.written() {
		c.dirty.Store(true)
	}
}

// sealLocked encrypts what is queued, and body and tail behind it, and hands it on.
// If that fails the connection is dead, and what was queued is still here, unsent.
func (c *conn) sealLocked(body, tail []byte) error {
	size := c.plain.Len() + len(body) + len(tail)
	c.wire.expect(size)
	var err error
	plain := c.plain.Next()
	for i := 0; i < len(c.queue.sizes) && err == nil; {
		var n int
		n, i = c.queue.record(i)
		n = min(n, len(plain)) // body and tail are the last request's
		_, err = c.tls.Write(plain[:n])
		plain = plain[n:]
	}
	for _, p := range [...][]byte{body, tail} { // of nothing it makes no record
		if err == nil {
			_, err = c.tls.Write(p)
		}
	}
	c.wire.setLimit(maxAnswers)
	if err != nil { // what is wrong with the reading side, most likely
		c.dieLocked(err)
		_ = c.on[0].Close()
		return err
	}
	sealed, queued, err := c.wire.handOn(c.on[0].Send)
	if err != nil {
		c.dieLocked(err)
		return err
	}
	if sealed > 0 {
		c.flights.add(sealed, size)
		c.sealed = queued
	}
	c.plain.Reset(keptPlain)
	c.queue.reset()
	return nil
}

// Reclaim implements [transport.Conn]. Loans are over from the beginning.
func (c *conn) Reclaim(*transport.Loan, *transport.Waiter) (over bool) { return true }

// Retract implements [transport.Conn].
func (c *conn) Retract(size, after int) bool {
	c.sending.Lock()
	defer c.sending.Unlock()
	if !c.plain.Retract(size, after) {
		return false
	}
	c.queue.remove(size, after)
	return true
}

// Scrub implements [transport.Scrubber]. Below there is nothing but ciphertext.
func (c *conn) Scrub() {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.plain.Scrub()
}

// takeLeave queues close_notify, and reports whether it did.
func (c *conn) takeLeave() bool {
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.dead != nil {
		return false
	}
	c.dieLocked(transport.ErrClosed)
	return c.tls.CloseWrite() == nil && c.handOn() == nil
}
