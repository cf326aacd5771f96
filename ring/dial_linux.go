package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// ErrTooManyConns: the ring has as many connections as the kernel allows
// registered buffers.
var ErrTooManyConns = fmt.Errorf("ring: more than %d connections", maxBuffers)

// Dial connects with Go's dialer, which knows names, address families and
// keep-alive, and takes the socket over.
func (e *Engine) Dial(ctx context.Context, network, addr string, h transport.Handler) (transport.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	fd, err := takeOver(nc)
	if err != nil {
		return nil, fmt.Errorf("ring: taking the socket over: %w", err)
	}
	c, err := e.adopt(fd, h)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return c, nil
}

// takeOver returns nc's socket, which is Go's no longer, and closes nc. The
// socket is made blocking: io_uring waits for it by itself, and would answer
// EAGAIN for a non-blocking one.
func takeOver(nc net.Conn) (fd int, err error) {
	defer nc.Close()
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return -1, fmt.Errorf("%T has no descriptor", nc)
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd = -1
	ctlErr := rc.Control(func(orig uintptr) {
		if fd, err = unix.FcntlInt(orig, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			err = unix.SetNonblock(fd, false)
		}
	})
	if err = errors.Join(err, ctlErr); err != nil && fd >= 0 {
		_ = unix.Close(fd)
	}
	return fd, err
}

// adopt puts a connected socket on the ring and arms its first receive.
func (e *Engine) adopt(fd int, h transport.Handler) (*conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.entryForDial()
	if err != nil {
		return nil, err
	}
	slot := e.slots.take()
	if slot < 0 {
		e.q.tail-- // not used
		return nil, ErrTooManyConns
	}
	buf, fixed, err := e.arena.buffer(slot)
	if err != nil {
		e.q.tail--
		e.slots.give(slot, true)
		return nil, err
	}
	c := &conn{e: e, fd: fd, slot: slot, h: h, window: buf, fixed: fixed, armed: true}
	e.slots.name(c)
	c.fillRecv(s)
	e.slots.put(c) // before the entry is published, and so can complete
	e.unclaimed++
	n := e.claim()
	e.unclaimLocked(n - e.submit(n))
	return c, nil
}

// entryForDial returns a free entry. The queue may be full of entries that a
// driver has claimed and is about to submit: that takes microseconds. mu is held,
// but given up meanwhile.
func (e *Engine) entryForDial() (*sqe, error) {
	for try := 0; ; try++ {
		if e.closed {
			return nil, transport.ErrClosed
		}
		if err := e.lost.Load(); err != nil {
			return nil, *err
		}
		if s := e.entry(); s != nil {
			return s, nil
		}
		if try == dialTries {
			return nil, errors.New("ring: the kernel accepts no requests now")
		}
		e.mu.Unlock()
		time.Sleep(refusedPause)
		e.mu.Lock()
	}
}

// dialTries bounds entryForDial, to a tenth of a second.
const dialTries = 1000
