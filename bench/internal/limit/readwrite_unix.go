//go:build unix

package limit

import (
	"io"

	"golang.org/x/sys/unix"
)

// ReadWrite gets values with one write and one read each, on a blocking socket.
type ReadWrite struct {
	fd  int
	out []byte
	buf []byte
}

// OpenReadWrite connects to a UNIX socket.
func OpenReadWrite(path string) (*ReadWrite, error) {
	fd, err := connect(path)
	if err != nil {
		return nil, err
	}
	return &ReadWrite{fd: fd, buf: make([]byte, bufferSize)}, nil
}

func connect(path string) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// GetAppend appends the value of a key that exists.
func (c *ReadWrite) GetAppend(dst []byte, key string) ([]byte, error) {
	c.out = appendGet(c.out[:0], key)
	if n, err := unix.Write(c.fd, c.out); err != nil {
		return dst, err
	} else if n < len(c.out) {
		return dst, io.ErrShortWrite
	}
	for have := 0; ; {
		n, err := unix.Read(c.fd, c.buf[have:])
		if err != nil {
			return dst, err
		}
		if n == 0 {
			return dst, io.ErrUnexpectedEOF
		}
		have += n
		value, err := reply(c.buf[:have])
		if err != nil || value != nil {
			return append(dst, value...), err
		}
	}
}

// Close closes the connection.
func (c *ReadWrite) Close() error { return unix.Close(c.fd) }
