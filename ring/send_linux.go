package ring

import (
	"fmt"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// takeSend fills s with the connection's next send. It reports whether there
// is one and whether it is sure to complete during its submission. One send at a
// time is in flight: two could interleave. Engine.mu is held.
func (c *conn) takeSend(s *sqe) (ok, prompt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty = false
	if c.dead != nil || c.sending && !c.settle() {
		return false, false
	}
	if len(c.flying) == 0 {
		if len(c.pending) == 0 {
			return false, false
		}
		c.flying, c.sent = c.pending, c.pending
		c.pending, c.spare = c.spare, nil
	}
	c.sending = true
	kernelRead(c.flying)
	s.PrepOperation(uring.IORING_OP_SEND, int32(c.fd), uint64(uintptr(unsafe.Pointer(&c.flying[0]))), uint32(min(len(c.flying), 1<<30)), 0)
	s.SetUserData(c.userData(opSend))
	flags := uint32(unix.MSG_NOSIGNAL)
	if !c.blocked {
		// MSG_DONTWAIT: the send cannot go asynchronous, so its completion is
		// posted by the very enter that submits it, and can be counted on.
		flags |= unix.MSG_DONTWAIT
	}
	s.SetOpFlags(flags)
	return true, !c.blocked
}

// settle looks whether the send in flight has completed, all of it, although
// nobody has reaped its completion: the driver that submitted it sleeps in the
// same system call. Without this, whatever is queued in the meantime would have
// to wait for the driver, that is for a reply to somebody else. mu is held.
//
// The completion stays in the queue, and sendDone passes over it later. Since
// the driver takes a completion off the queue before it comes to sendDone, and
// mu is held here, one that is found belongs to a send that sendDone has not
// seen: the first ahead of those are known already, the next is this one's.
func (c *conn) settle() bool {
	res, ok := c.e.q.find(c.userData(opSend), c.ahead)
	if !ok || res < 0 || int(res) < len(c.flying) {
		return false
	}
	c.ahead++
	c.landed(res)
	return true
}

// landed notes that the kernel has taken n bytes of flying. mu is held.
func (c *conn) landed(n int32) {
	c.e.bytesOut.Add(uint64(n))
	c.sending = false
	c.flying = c.flying[n:]
	c.blocked = len(c.flying) > 0 // a short count means that the socket is full
	if c.blocked {
		return
	}
	c.flying = nil
	switch {
	case cap(c.sent) > keepSendBuffer:
	case c.pending == nil:
		c.pending = c.sent[:0]
	default:
		c.spare = c.sent[:0]
	}
	c.sent = nil
}

// sendDone takes in the completion of a send. Driver only.
func (c *conn) sendDone(res int32) {
	c.mu.Lock()
	switch errno := unix.Errno(-res); {
	case c.ahead > 0:
		c.ahead-- // settle has been there
	case res >= 0:
		c.landed(res)
	case errno == unix.EAGAIN:
		c.sending, c.blocked = false, true
	case errno == unix.EINTR, errno == unix.ECANCELED && c.dead == nil:
		// The thread that submitted it has gone; nothing was sent.
		c.sending, c.blocked = false, false
	default:
		c.sending = false
		c.mu.Unlock()
		c.e.fail(c, fmt.Errorf("send: %w", errno))
		return
	}
	again := c.dead == nil && !c.dirty && !c.sending && (c.flying != nil || len(c.pending) > 0)
	c.dirty = c.dirty || again
	c.mu.Unlock()
	if again {
		c.e.markDirty(c)
	}
	if c.gone.Load() {
		c.e.bury(c)
	}
}

// dropBuffers gives the send buffers of an idle connection back.
func (c *conn) dropBuffers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = nil
	if len(c.pending) == 0 {
		c.pending = nil
	}
}
