package ring

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollWait waits for completions in Go's network poller, on a duplicate of the
// eventfd that they ring. Nothing is ever read from it: the poller is
// edge-triggered, and each completion makes a new edge.
type pollWait struct {
	f     *os.File
	rc    syscall.RawConn
	ready func(uintptr) bool
}

// newPollWait takes fd over, also if it fails. ready tells whether there is any
// need to wait; it is asked again at every edge.
func newPollWait(fd int, ready func() bool) (pollWait, error) {
	f := os.NewFile(uintptr(fd), "memring eventfd")
	rc, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return pollWait{}, err
	}
	return pollWait{f: f, rc: rc, ready: func(uintptr) bool { return ready() }}, nil
}

// wait returns nil when ready, or os.ErrDeadlineExceeded.
func (p pollWait) wait() error { return p.rc.Read(p.ready) }

// limit bounds the wait under way, and those to come, to d from now.
func (p pollWait) limit(d time.Duration) {
	t := time.Time{}
	if d < never {
		t = time.Now().Add(d)
	}
	_ = p.f.SetReadDeadline(t)
}

func (p pollWait) close() { _ = p.f.Close() }

// startKeeper registers an eventfd, makes the two places to wait for it, and
// starts the keeper.
func (e *Engine) startKeeper() error {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return setupError("eventfd", err)
	}
	if err = registerEventfd(e.ringFD, fd); err != nil {
		_ = unix.Close(fd)
		return setupError("io_uring_register", err)
	}
	second, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(fd)
		return setupError("fcntl", err)
	}
	watch, err := newPollWait(fd, e.q.pending)
	if err != nil {
		_ = unix.Close(second)
		return err
	}
	if e.poller, err = newPollWait(second, e.q.pending); err != nil {
		watch.close()
		return err
	}
	e.keeper.init(watch)
	go e.keep()
	return nil
}
