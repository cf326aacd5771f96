//go:build unix

package fallback

import (
	"net"
	"syscall"
)

// A rawWriter writes to a socket without waiting for room. It belongs to the
// writer of its connection; pieces is set only during try.
type rawWriter struct {
	rc     syscall.RawConn
	fn     func(fd uintptr) bool // w.attempt, made once
	pieces [][]byte
	n      int
	err    error
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
	w.fn = w.attempt
	return w
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
		switch err {
		case nil:
			w.n = n
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			w.err = err
		}
		return true
	}
}
