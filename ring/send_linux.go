package ring

import (
	"fmt"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// promptMax is the size up to which a send is expected to find room in the
// socket, so that a driver may wait for more than its completion. It is what TCP
// gives a socket at least (the second value of net.ipv4.tcp_wmem).
const promptMax = 16 << 10

// What takeSend has found.
type sendState uint8

const (
	sendNone   sendState = iota // nothing to send, or sendDone will see to it
	sendTaken                   // the entry is filled
	sendPrompt                  // and will complete, whole, during its submission
	sendLater                   // the send in flight is about to complete: ask again
)

// takeSend fills s with the connection's next send, if there is one. One send at
// a time is in flight: two could interleave. Engine.mu is held.
func (c *conn) takeSend(s *sqe) sendState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead == nil && c.sending && !c.settle() && !c.async {
		return sendLater
	}
	c.dirty = false
	if c.dead != nil || c.sending {
		return sendNone
	}
	if c.flying.Len() == 0 {
		if c.pending.Len() == 0 {
			return sendNone
		}
		c.flying, c.pending = c.pending, c.flying
	}
	c.flying.KeepWanted()
	c.sending, c.async, c.recall = true, c.blocked, canceling{}
	if b := c.flying.Next(); b != nil {
		c.asked = min(len(b), maxSend)
		s.PrepOperation(uring.IORING_OP_SEND, int32(c.fd), uint64(uintptr(unsafe.Pointer(&b[0]))), uint32(c.asked), 0)
	} else {
		s.PrepOperation(uring.IORING_OP_SENDMSG, int32(c.fd), uint64(uintptr(unsafe.Pointer(c.message()))), 1, 0)
	}
	s.SetUserData(c.userData(opSend))
	if c.async {
		s.SetOpFlags(unix.MSG_NOSIGNAL)
		return sendTaken
	}
	// MSG_DONTWAIT: the send cannot go asynchronous, so its completion is posted
	// by the very enter that submits it.
	s.SetOpFlags(unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT)
	if c.asked == c.flying.Len() && c.asked <= promptMax {
		return sendPrompt
	}
	return sendTaken
}

// maxSend bounds a send: the kernel's counts are of 32 bits.
const maxSend = 1 << 30

// message is what a send in several pieces consists of. The kernel may look at it
// until the send completes, so there is one to a connection, on the heap.
type message struct {
	hdr    unix.Msghdr
	iov    [maxPieces]unix.Iovec
	pieces [maxPieces][]byte
}

// Lent bodies go out with SENDMSG and not with SENDMSG_ZC, which would spare the
// kernel's copy as well: the network stack keeps the pages until the peer has
// acknowledged them, and no cancellation gets them back before. A call to a server
// that has died could not return at its deadline then, or not with its caller's
// memory. (Over loopback and UNIX sockets the kernel copies in any case.)
//
// maxPieces is the number of pieces that go out at once: requests with a lent body
// take two each.
const maxPieces = 16

// message describes what flies next. mu is held, and nothing is being sent.
func (c *conn) message() *unix.Msghdr {
	if c.msg == nil {
		c.msg = new(message)
		c.msg.hdr.Iov = &c.msg.iov[0]
	}
	m := c.msg
	pieces := c.flying.Pieces(m.pieces[:0], maxSend)
	clear(m.pieces[len(pieces):])
	c.asked = 0
	for i, p := range pieces {
		c.asked += len(p)
		m.iov[i].Base = &p[0]
		m.iov[i].SetLen(len(p))
	}
	clear(m.iov[len(pieces):])
	m.hdr.SetIovlen(len(pieces))
	return &m.hdr
}

// settle looks whether the send in flight has completed although nobody has
// reaped its completion: the driver that submitted it sleeps in the same system
// call. Without this, whatever is queued in the meantime would have to wait for
// the driver, that is for a reply to somebody else. mu is held.
//
// The completion stays in the queue, and sendDone passes over it later. Since
// the driver takes a completion off the queue before it comes to sendDone, and
// mu is held here, one that is found belongs to a send that sendDone has not
// seen: the first ahead of those are known already, the next is this one's.
func (c *conn) settle() bool {
	res, ok := c.e.q.find(c.userData(opSend), c.ahead)
	switch {
	case !ok:
		return false
	case res >= 0:
		c.landed(res)
	case unix.Errno(-res) == unix.EAGAIN:
		c.sending, c.blocked = false, true
	default:
		return false // for sendDone
	}
	c.ahead++
	return true
}

// landed notes that the kernel has taken n bytes of flying. mu is held.
func (c *conn) landed(n int32) {
	c.e.bytesOut.Add(uint64(n))
	c.sending = false
	c.kernelTook(int(n))
	c.flying.Left(int(n))
	c.blocked = int(n) < c.asked // the socket is full
	if c.flying.Len() == 0 {
		c.flying.Reset(keepSendBuffer)
		if c.msg != nil {
			clear(c.msg.pieces[:]) // lent memory is kept alive no longer than needed
			clear(c.msg.iov[:])
		}
	}
}

// kernelTook tells the race detector what was read.
func (c *conn) kernelTook(n int) {
	if b := c.flying.Next(); b != nil {
		kernelRead(b[:n])
		return
	}
	for _, p := range c.msg.pieces {
		k := min(n, len(p))
		kernelRead(p[:k])
		n -= k
	}
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
	if !c.sending {
		c.flying.KeepWanted()
	}
	again := c.dead == nil && !c.dirty && !c.sending && c.flying.Len()+c.pending.Len() > 0
	c.dirty = c.dirty || again
	c.mu.Unlock()
	if again {
		c.e.markDirty(c, false)
	}
	if c.gone.Load() {
		c.e.bury(c)
	}
}
