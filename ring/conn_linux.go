package ring

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// keepSendBuffer is the largest send buffer kept for the next send. A connection
// that falls idle keeps none.
const keepSendBuffer = 256 << 10

// conn is one socket on the ring.
//
// Ownership of its memory: pending belongs to mu. flying, and the part of
// window behind have while armed, belong to the kernel from the moment their
// entry is filled until its completion is reaped. Everything else below the
// line is the driver's.
type conn struct {
	e    *Engine
	fd   int
	slot int
	gen  uint32
	h    transport.Handler

	mu      sync.Mutex
	pending []byte      // queued, not yet given to the kernel
	spare   []byte      // an empty buffer for the next pending
	flying  []byte      // being sent, what is left of it
	sent    []byte      // flying from its start, to become spare
	sending bool        // a send is in the kernel, of flying
	dirty   bool        // in Engine.dirty
	blocked bool        // the socket was full: the next send may wait in the kernel
	dead    error       // set once: no more sends
	gone    atomic.Bool // dead is set

	// The driver's.
	window []byte // the registered buffer
	fixed  bool   // window is registered under index slot
	more   bool   // the last receive got all that it asked for
	have   int    // bytes in window that the handler has not used
	armed  bool   // a receive is in the kernel
	rest   bool   // in Engine.resting
	ended  bool   // Handler.Closed was called
}

var _ transport.Conn = (*conn)(nil)

func (c *conn) Send(head, body, tail []byte) (int, error) {
	c.mu.Lock()
	if c.dead != nil {
		err := c.dead
		c.mu.Unlock()
		return 0, err
	}
	if len(c.pending) > transport.MaxBacklog {
		n := len(c.pending)
		c.mu.Unlock()
		return n, transport.ErrBacklog
	}
	c.pending = append(append(append(c.pending, head...), body...), tail...)
	queued := len(c.pending)
	// While a send is in flight its completion will find pending filled.
	fresh := !c.dirty && c.flying == nil
	c.dirty = c.dirty || fresh
	c.mu.Unlock()
	if fresh {
		c.e.markDirty(c)
	} else {
		c.e.crowded()
	}
	return queued, nil
}

func (c *conn) Retract(size, after int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, to := len(c.pending)-after-size, len(c.pending)-after
	if size <= 0 || after < 0 || from < 0 {
		return false
	}
	c.pending = append(c.pending[:from], c.pending[to:]...)
	return true
}

// Close interrupts I/O by shutting the socket down: what is in the kernel then
// completes, and only after that may the descriptor be closed.
func (c *conn) Close() error {
	c.mu.Lock()
	first := c.dead == nil
	if first {
		c.die(transport.ErrClosed)
	}
	c.mu.Unlock()
	if first {
		c.e.noticeClose(c)
	}
	return nil
}

// die forbids further sends and has what is in the kernel complete. mu is held,
// which is what makes sure that the descriptor is still ours: see bury.
func (c *conn) die(err error) {
	c.dead = err
	c.gone.Store(true)
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
}

// takeSend fills s with the connection's next send. It reports whether there
// is one and whether it is sure to complete during its submission.
func (c *conn) takeSend(s *sqe) (ok, prompt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty = false
	if c.dead != nil {
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

// dropBuffers gives the send buffers of an idle connection back.
func (c *conn) dropBuffers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = nil
	if len(c.pending) == 0 {
		c.pending = nil
	}
}

// sendDone takes in the completion of a send. Driver only.
func (c *conn) sendDone(res int32) {
	c.mu.Lock()
	c.sending, c.blocked = false, false
	switch {
	case res >= 0:
		c.e.bytesOut.Add(uint64(res))
		c.flying = c.flying[res:]
		// A short count means that the socket is full.
		c.blocked = len(c.flying) > 0
	case unix.Errno(-res) == unix.EAGAIN:
		c.blocked = true
	case unix.Errno(-res) == unix.EINTR, unix.Errno(-res) == unix.ECANCELED && c.dead == nil:
		// The thread that submitted it has gone; nothing was sent.
	default:
		c.mu.Unlock()
		c.e.fail(c, fmt.Errorf("send: %w", unix.Errno(-res)))
		return
	}
	if len(c.flying) == 0 {
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
	again := c.dead == nil && !c.dirty && (c.flying != nil || len(c.pending) > 0)
	c.dirty = c.dirty || again
	c.mu.Unlock()
	if again {
		c.e.markDirty(c)
	}
	if c.gone.Load() {
		c.e.bury(c)
	}
}

// fillRecv makes s the receive into the free part of the window. Driver only.
//
// A socket that the last receive has emptied is not read at once, since it has
// nothing yet: the kernel is told to wait for data first, which saves the vain
// attempt (0.5 of 8 µs of CPU per lone get where it was measured). There is no
// such flag for READ_FIXED, which takes over in the middle of a stream: when the
// last receive has filled the window, more is there already.
func (c *conn) fillRecv(s *sqe) {
	free := c.window[c.have:]
	op := uring.IORING_OP_RECV
	if c.fixed && c.more {
		op = uring.IORING_OP_READ_FIXED
	}
	s.PrepOperation(op, int32(c.fd), uint64(uintptr(unsafe.Pointer(&free[0]))), uint32(len(free)), 0)
	switch {
	case op == uring.IORING_OP_READ_FIXED:
		s.SetBufIndex(uint16(c.slot))
	case c.e.pollFirst && !c.more:
		s.SetIoprio(recvPollFirst)
	}
	s.SetUserData(c.userData(opRecv))
}

// recvDone takes in the completion of a receive. Driver only.
func (c *conn) recvDone(res int32) {
	c.armed = false
	switch {
	case res > 0:
		kernelWrote(c.window[c.have : c.have+int(res)])
		c.e.bytesIn.Add(uint64(res))
		c.have += int(res)
		c.more = c.have == len(c.window)
		if c.gone.Load() {
			c.e.bury(c)
			return
		}
		used, err := c.h.Received(c.window[:c.have])
		if err == nil && used == 0 && c.have == len(c.window) {
			err = transport.ErrStuck
		}
		if err != nil {
			c.e.fail(c, err)
			return
		}
		c.have = copy(c.window, c.window[used:c.have])
	case res == 0:
		c.e.fail(c, transport.ErrEOF)
		return
	case unix.Errno(-res) == unix.EINTR, unix.Errno(-res) == unix.EAGAIN, unix.Errno(-res) == unix.ECANCELED:
		// ECANCELED is no sign of a dead connection: the kernel cancels what a
		// thread has submitted when that thread exits. Arm it again.
	default:
		c.e.fail(c, fmt.Errorf("receive: %w", unix.Errno(-res)))
		return
	}
	if c.gone.Load() {
		c.e.bury(c)
		return
	}
	c.e.restRecv(c)
}
