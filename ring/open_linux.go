package ring

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

const (
	// Both queues count against RLIMIT_MEMLOCK (seen on Linux 6.18): 40 KiB in
	// all, so that a limit of 64 KiB still has room for them. When thousands of
	// connections complete at once the kernel keeps the rest, see
	// queue.overflowed.
	sqEntries = 256
	cqEntries = 1024
)

// openRing sets up a ring and proves by a NOP that it works. Each error is
// final for this process and says what to do.
func openRing() (k *sysKernel, q *queue, err error) {
	var fd int
	var p uring.IOURingParams
	for _, flags := range []uint32{
		// SUBMIT_ALL (Linux 5.18): a bad entry does not hold up those behind it.
		uring.IORING_SETUP_SUBMIT_ALL, 0,
	} {
		p = uring.IOURingParams{Flags: flags | uring.IORING_SETUP_CLAMP | uring.IORING_SETUP_CQSIZE, CQEntries: cqEntries}
		fd, err = uring.IOURingSetup(sqEntries, &p)
		if !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	if err != nil {
		return nil, nil, setupError("io_uring_setup", err)
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
		}
	}()
	const need = uring.IORING_FEAT_SINGLE_MMAP | uring.IORING_FEAT_NODROP | uring.IORING_FEAT_FAST_POLL | featExtArg
	if p.Features&need != need {
		return nil, nil, fmt.Errorf("io_uring of this kernel is too old (features %#x, need %#x): Linux 5.11 or later is needed", p.Features, need)
	}
	if q, err = mapQueue(fd, &p); err != nil {
		return nil, nil, setupError("mmap", err)
	}
	k = newSysKernel(fd)
	if err = probeNop(k, q); err != nil {
		q.unmap()
		return nil, nil, err
	}
	return k, q, nil
}

// probeNop sends one NOP through the ring. A sandbox may allow the setup and
// refuse the rest.
func probeNop(k *sysKernel, q *queue) error {
	q.next().PrepOperation(uring.IORING_OP_NOP, -1, 0, 0, 0)
	q.publish()
	for try, n := 0, uint32(1); try < 100; try++ {
		done, err := k.wait(n, 1, time.Millisecond)
		if err != nil {
			return setupError("io_uring_enter", err)
		}
		n -= done
		if _, res, ok := q.pop(); ok {
			if res != 0 {
				return setupError("a NOP through io_uring", unix.Errno(-res))
			}
			return nil
		}
	}
	return errors.New("a NOP sent through io_uring did not come back")
}

// setupError says what refused us and what to do about it.
func setupError(call string, err error) error {
	var why string
	switch errno := unwrapErrno(err); {
	case errors.Is(errno, unix.ENOSYS):
		why = "this kernel or sandbox has no io_uring: use Linux 5.11 or later, or a sandbox that passes it (gVisor and old seccomp profiles do not)"
	case errors.Is(errno, unix.EPERM), errors.Is(errno, unix.EACCES):
		why = "io_uring is forbidden: " + whoForbids()
	case errors.Is(errno, unix.ENOMEM):
		why = "not enough memory may be locked: " + memlockAdvice()
	case errors.Is(errno, unix.EMFILE), errors.Is(errno, unix.ENFILE):
		why = "too many open files: raise RLIMIT_NOFILE (ulimit -n)"
	case errors.Is(errno, unix.EINVAL):
		why = "this kernel's io_uring lacks what is needed: use Linux 5.11 or later"
	default:
		return fmt.Errorf("%s: %w", call, errno)
	}
	return fmt.Errorf("%s: %w (%s)", call, unwrapErrno(err), why)
}

// memlockAdvice says what the limit is and how to raise it.
func memlockAdvice() string {
	limit := "unknown"
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim) == nil {
		limit = fmt.Sprintf("%d KiB", lim.Cur>>10)
	}
	return "RLIMIT_MEMLOCK is " + limit + " and is shared by all processes of this user; " +
		"raise it with ulimit -l, LimitMEMLOCK= in systemd or --ulimit memlock= in Docker"
}

// whoForbids tells the sysctl from a seccomp filter: both answer EPERM.
func whoForbids() string {
	b, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled")
	if err == nil && len(b) > 0 && b[0] != '0' {
		return "sysctl kernel.io_uring_disabled is " + string(b[:1]) + ", set it to 0 (or, if it is 1, run in the group of kernel.io_uring_group)"
	}
	return "most likely a seccomp filter (Docker's and Kubernetes' default profiles refuse io_uring); use a profile that allows io_uring_setup, io_uring_enter and io_uring_register"
}

// unwrapErrno takes the errno out of iouring-go's os.SyscallError, whose call
// names are not those of the man pages.
func unwrapErrno(err error) error {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// registerEventfd has every completion ring fd, unless queue.armEvent is off.
func registerEventfd(ringFD, fd int) error {
	v := int32(fd)
	return register(ringFD, uring.IORING_REGISTER_EVENTFD, unsafe.Pointer(&v), 1)
}
