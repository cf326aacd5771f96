package main

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	tinyBuffer  = 4 << 10 // bytes; the kernel doubles it
	tinySegment = 536
)

// shrink makes a socket's buffers tiny before it listens or connects, which is when the window's scale is
// agreed on. Segments must be small as well: a loopback's of 64 KiB never fit the window, and the sender
// would wait for its timer each time (RFC 9293, 3.8.6.2.1).
func shrink(network, _ string, c syscall.RawConn) error {
	var err error
	set := func(fd uintptr) {
		err = errors.Join(
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, tinyBuffer),
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, tinyBuffer))
		if strings.HasPrefix(network, "tcp") {
			err = errors.Join(err, unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, tinySegment))
		}
	}
	if failed := c.Control(set); failed != nil {
		return failed
	}
	return err
}
