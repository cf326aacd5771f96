package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syscallCounter counts every system call of this process with the kernel's own tracepoint
// raw_syscalls:sys_enter: one perf event for each thread there is, inherited by those to come
// (perf_event_open(2)).
type syscallCounter struct {
	fds  []int
	base uint64
}

func openCounter(tracepoint uint64) (*syscallCounter, error) {
	if tracepoint == 0 {
		return nil, errors.New("the kernel's counter can't be read here")
	}
	c := &syscallCounter{}
	seen := map[int]bool{}
	for again := true; again; { // threads may start while the list is read
		again = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return nil, errors.Join(err, c.release())
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || seen[tid] {
				continue
			}
			seen[tid], again = true, true
			fd, err := openEvent(tracepoint, tid)
			if errors.Is(err, unix.ESRCH) {
				continue // the thread has gone
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("perf_event_open: %w", err), c.release())
			}
			c.fds = append(c.fds, fd)
		}
	}
	var err error
	if c.base, err = c.read(); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}

func openEvent(tracepoint uint64, tid int) (int, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: tracepoint, Bits: unix.PerfBitInherit}
	attr.Size = uint32(unsafe.Sizeof(attr))
	return unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

func (c *syscallCounter) read() (uint64, error) {
	var sum uint64
	for _, fd := range c.fds {
		var count [8]byte
		if n, err := unix.Read(fd, count[:]); err != nil || n != len(count) {
			return 0, fmt.Errorf("reading a perf event: %d bytes, %w", n, err)
		}
		sum += binary.NativeEndian.Uint64(count[:])
	}
	return sum, nil
}

// close returns the calls since open.
func (c *syscallCounter) close() (uint64, error) {
	sum, err := c.read()
	return sum - c.base, errors.Join(err, c.release())
}

func (c *syscallCounter) release() error {
	var errs []error
	for _, fd := range c.fds {
		errs = append(errs, unix.Close(fd))
	}
	c.fds = nil
	return errors.Join(errs...)
}

// HoldTracepoint keeps the counter's tracepoint in use by this process until release is called.
func HoldTracepoint(tracepoint uint64) (release func(), err error) {
	c, err := openCounter(tracepoint)
	if err != nil {
		return nil, err
	}
	return func() { _ = c.release() }, nil // closing can't fail in a way that matters
}
