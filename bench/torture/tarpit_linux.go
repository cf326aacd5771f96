package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// tarpit is a TCP socket with a full backlog: the kernel drops further SYNs (listen(2), tcp(7)), so that
// connecting to it takes for ever.
type tarpit struct {
	fd   int
	full []net.Conn
}

func newTarpit() (_ io.Closer, addr string, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	t := &tarpit{fd: fd}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, 0)
	}
	var name unix.Sockaddr
	if err == nil {
		name, err = unix.Getsockname(fd)
	}
	if err != nil {
		return nil, "", errors.Join(err, t.Close())
	}
	addr = fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 8 {
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			return t, addr, nil // it is full
		}
		t.full = append(t.full, c)
	}
	return nil, "", errors.Join(errors.New("the backlog of a socket does not fill"), t.Close())
}

func (t *tarpit) Close() error {
	err := unix.Close(t.fd)
	for _, c := range t.full {
		err = errors.Join(err, c.Close())
	}
	return err
}
