package standin

import (
	"errors"
	"net"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// threads is more than the connections a case opens: a connection that is due must not wait for a P.
const threads = 128

// Prepare sets the process up for exact delays: no collections, a P for every connection.
func Prepare() {
	debug.SetGCPercent(-1) // a session allocates nothing once its buffers have grown
	debug.SetMemoryLimit(1 << 30)
	runtime.GOMAXPROCS(threads)
}

// serve answers one connection on a thread of its own, with timers as exact as the kernel has them
// (PR_SET_TIMERSLACK: without it a sleep may be 50 µs late). It closes the connection.
func (s *Server) serve(conn net.Conn) error {
	fd, err := takeFD(conn)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	runtime.LockOSThread() // never unlocked: the thread ends with the connection
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return err
	}
	session, waiting := NewSession(s.o.Size, s.conns.Load), line{}
	buf := make([]byte, 64<<10)
	var arrived time.Duration
	emit := func(a Answer) { waiting.push(s.due(arrived, a), a.Reply) }
	for {
		blocked := false
		if out := waiting.due(time.Since(s.began)); len(out) > 0 {
			n, err := unix.Write(fd, out)
			switch {
			case err == nil:
				waiting.wrote(n)
				continue
			case errors.Is(err, unix.EAGAIN):
				blocked = true
			case errors.Is(err, unix.EINTR):
				continue
			default:
				return err
			}
		}
		ready, err := await(fd, &waiting, s.began, blocked)
		if err != nil {
			return err
		}
		if !ready {
			continue
		}
		arrived = time.Since(s.began)
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return nil
		default:
			if err := session.Feed(buf[:n], emit); err != nil {
				return err
			}
		}
	}
}

// await sleeps until a request arrives (true), a reply falls due, or a blocked write can go on.
func await(fd int, waiting *line, began time.Time, blocked bool) (bool, error) {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	var timeout *unix.Timespec
	if blocked {
		fds[0].Events |= unix.POLLOUT
	} else if due, ok := waiting.next(); ok {
		ts := unix.NsecToTimespec(max(0, due-time.Since(began)).Nanoseconds())
		timeout = &ts
	}
	_, err := unix.Ppoll(fds[:], timeout, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return false, err
	}
	return fds[0].Revents&(unix.POLLIN|unix.POLLHUP|unix.POLLERR) != 0, nil
}

// takeFD moves the socket out of Go's poller, non-blocking.
func takeFD(conn net.Conn) (int, error) {
	defer conn.Close()
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return -1, errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(p uintptr) {
		fd, dupErr = unix.FcntlInt(p, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return -1, err
	}
	return fd, dupErr
}
