package ring

import (
	"fmt"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// landMax bounds one receive into a value's place. It completes only when it is
// full, and until then nobody knows that the server is alive.
const landMax = 2 << 20

// fillRecv makes s the receive into the free part of the window, or to where the
// next bytes land instead. Driver only.
//
// A socket that the last receive has emptied is not read at once, since it has
// nothing yet: the kernel is told to wait for data first, which saves the vain
// attempt (0.5 of 8 µs of CPU per lone get where it was measured). There is no
// such flag for READ_FIXED, which takes over in the middle of a stream: when the
// last receive got all that it asked for, more is there already.
func (c *conn) fillRecv(s *sqe) {
	op, free, flags := uring.IORING_OP_RECV, c.window[c.have:], uint32(0)
	switch {
	case len(c.into) > 0:
		free = c.into[:min(len(c.into), landMax)]
		if c.e.keepsCount {
			flags = unix.MSG_WAITALL
		}
	case c.fixed && c.more:
		op = uring.IORING_OP_READ_FIXED
	}
	s.PrepOperation(op, int32(c.fd), uint64(uintptr(unsafe.Pointer(&free[0]))), uint32(len(free)), 0)
	switch {
	case op == uring.IORING_OP_READ_FIXED:
		s.SetBufIndex(uint16(c.slot))
	case c.e.pollFirst && !c.more:
		s.SetIoprio(recvPollFirst)
	}
	s.SetOpFlags(flags)
	s.SetUserData(c.userData(opRecv))
}

// recvDone takes in the completion of a receive. Driver only.
func (c *conn) recvDone(res int32) {
	c.armed, c.canceling = false, canceling{}
	switch {
	case res > 0:
		if !c.delivered(int(res)) {
			return
		}
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
	c.divertNow()
}

// delivered gives the handler n bytes that have come, and reports whether the
// connection goes on. Driver only.
func (c *conn) delivered(n int) bool {
	c.e.bytesIn.Add(uint64(n))
	var err error
	if len(c.into) > 0 {
		kernelWrote(c.into[:n])
		c.more = n == min(len(c.into), landMax)
		if !c.gone.Load() {
			c.diverted.Store(false) // before the call that it leads to, see Divert
			c.into, err = c.h.Landed(n)
		}
	} else {
		kernelWrote(c.window[c.have : c.have+n])
		c.have += n
		c.more = c.have == len(c.window)
		if !c.gone.Load() {
			err = c.receive()
		}
	}
	switch {
	case err != nil:
		c.e.fail(c, err)
		return false
	case c.gone.Load():
		c.e.bury(c)
		return false
	}
	return true
}

// receive has the handler use the window.
func (c *conn) receive() error {
	used, into, err := c.h.Received(c.window[:c.have])
	switch {
	case err != nil:
		return err
	case used == c.have:
		c.have, c.into = 0, into
	case used == 0 && c.have == len(c.window):
		return transport.ErrStuck
	default:
		c.have = copy(c.window, c.window[used:c.have])
	}
	return nil
}
