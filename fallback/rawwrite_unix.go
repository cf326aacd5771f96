//go:build unix

package fallback

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// A rawWriter writes to a socket without waiting for room. It belongs to the
// writer of its connection; pieces is set only during try. Besides it tells whether
// the socket has come to its end, which is under conn.mu.
type rawWriter struct {
	rc     syscall.RawConn
	fn     func(fd uintptr) bool // w.attempt, made once
	pieces [][]byte
	n      int
	err    error

	look func(fd uintptr) // w.lookForEnd, made once
	over bool
}

// newRawWriter returns nil if nc must be written with its own Write. That is
// so for every type that wraps a socket: its Write may do more than ours.
func newRawWriter(nc net.Conn) *rawWriter {
	var sc syscall.Conn
	switch nc := nc.(type) {
	case *net.TCPConn:
		sc = nc
	case *net.UnixConn:
		sc = nc
	default:
		return nil
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	w := &rawWriter{rc: rc}
	w.fn, w.look = w.attempt, w.lookForEnd
	return w
}

// ended reports whether the peer has closed the connection.
func (w *rawWriter) ended() bool {
	w.over = false
	return w.rc.Control(w.look) != nil || w.over
}

// lookForEnd asks for what comes unasked on some systems, poll(2).
func (w *rawWriter) lookForEnd(fd uintptr) {
	const ends = unix.POLLHUP | unix.POLLERR | pollPeerEnded
	p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | ends}}
	if _, err := unix.Poll(p[:], 0); err == nil {
		w.over = p[0].Revents&ends != 0
	}
}

// try makes one write. It returns less than all without an error if the socket has
// no room for more.
func (w *rawWriter) try(pieces [][]byte) (n int, err error) {
	w.pieces, w.n, w.err = pieces, 0, nil
	err = w.rc.Write(w.fn)
	w.pieces = nil
	if err == nil {
		err = w.err
	}
	return w.n, err
}

// attempt returns true whatever happens: the poller shall not wait here.
func (w *rawWriter) attempt(fd uintptr) bool {
	for {
		n, err := writePieces(int(fd), w.pieces)
		switch {
		case err == nil:
			w.n = n
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
		default:
			w.err = err
		}
		return true
	}
}
