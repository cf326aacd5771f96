package ring

import (
	"syscall"
	"time"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// What include/uapi/linux/io_uring.h has and iouring-go's syscall package has
// not.
const (
	enterExtArg = 1 << 3 // IORING_ENTER_EXT_ARG, Linux 5.11

	featExtArg = 1 << 8 // IORING_FEAT_EXT_ARG

	registerBuffers2      uint8 = 15 // IORING_REGISTER_BUFFERS2, Linux 5.13
	registerBuffersUpdate uint8 = 16 // IORING_REGISTER_BUFFERS_UPDATE, Linux 5.13
	rsrcRegisterSparse          = 1  // IORING_RSRC_REGISTER_SPARSE, Linux 5.19

	registerSyncCancel uint8 = 24 // IORING_REGISTER_SYNC_CANCEL, Linux 6.0

	recvPollFirst = 1 << 0 // IORING_RECVSEND_POLL_FIRST in ioprio, Linux 5.19

	cancelAll = 1 << 0 // IORING_ASYNC_CANCEL_ALL, Linux 5.19
	cancelAny = 1 << 2 // IORING_ASYNC_CANCEL_ANY, Linux 5.19

	// opSendmsgZC is IORING_OP_SENDMSG_ZC, which came with Linux 6.1. So did what
	// can't be asked for: a receive with MSG_WAITALL that is cancelled before it is
	// full completes with the count of what it has got ("io_uring/net: don't lose
	// partial send/recv on fail"). Before, that was lost.
	opSendmsgZC = 48

	cqEventfdDisabled = 1 << 0 // IORING_CQ_EVENTFD_DISABLED, Linux 5.8
)

// rsrcRegister is struct io_uring_rsrc_register.
type rsrcRegister struct {
	nr    uint32
	flags uint32
	resv2 uint64
	data  uint64
	tags  uint64
}

// rsrcUpdate2 is struct io_uring_rsrc_update2.
type rsrcUpdate2 struct {
	offset uint32
	resv   uint32
	data   uint64
	tags   uint64
	nr     uint32
	resv2  uint32
}

// syncCancel is struct io_uring_sync_cancel_reg.
type syncCancel struct {
	addr    uint64
	fd      int32
	flags   uint32
	timeout timespec
	opcode  uint8
	pad     [7]uint8
	pad2    [3]uint64
}

// probe is struct io_uring_probe with room for all opcodes.
type probe struct {
	lastOp uint8
	opsLen uint8
	resv   uint16
	resv2  [3]uint32
	ops    [256]struct {
		op    uint8
		resv  uint8
		flags uint16
		resv2 uint32
	}
}

// timespec is struct __kernel_timespec, 64 bits wide on every architecture.
type timespec struct{ sec, nsec int64 }

// geteventsArg is struct io_uring_getevents_arg.
type geteventsArg struct {
	sigmask   uint64
	sigmaskSz uint32
	pad       uint32
	ts        uint64
}

// kernel is the part of the kernel that can fail while a ring runs. Tests put
// their own in its place.
type kernel interface {
	// submit hands n entries to the kernel and returns without waiting.
	submit(n uint32) (submitted uint32, err error)
	// wait does the same and then waits until the completion queue holds at
	// least atLeast entries, or until timeout has passed; 0 is no timeout. It
	// does not wait if fewer than n entries were accepted. Only one goroutine
	// waits at a time.
	wait(n, atLeast uint32, timeout time.Duration) (submitted uint32, err error)
	// cancelAll has the kernel let go of all memory, after enter has failed for
	// good.
	cancelAll()
}

// sysKernel is the real one. ts and arg are what a waiting enter points to; they
// are heap memory that lives as long as the ring.
type sysKernel struct {
	fd  int
	ts  timespec
	arg geteventsArg
}

func newSysKernel(fd int) *sysKernel {
	k := &sysKernel{fd: fd}
	k.arg.ts = uint64(uintptr(unsafe.Pointer(&k.ts)))
	return k
}

// submit uses a raw system call: with no wait it returns within microseconds,
// so Go's scheduler need not know.
func (k *sysKernel) submit(n uint32) (uint32, error) {
	r, _, errno := syscall.RawSyscall6(uring.SYS_IO_URING_ENTER, uintptr(k.fd), uintptr(n), 0, 0, 0, 0)
	return enterResult(r, errno)
}

// wait has the kernel set a timer only if there is a timeout: on a virtual
// machine that costs more than all the rest of a lone get's wait (1.5 of 8 µs of
// CPU where it was measured, since programming the timer leaves the guest).
func (k *sysKernel) wait(n, atLeast uint32, timeout time.Duration) (uint32, error) {
	flags, arg, size := uintptr(uring.IORING_ENTER_FLAGS_GETEVENTS), uintptr(0), uintptr(0)
	if timeout > 0 {
		k.ts = timespec{sec: int64(timeout / time.Second), nsec: int64(timeout % time.Second)}
		flags |= enterExtArg
		arg, size = uintptr(unsafe.Pointer(&k.arg)), unsafe.Sizeof(k.arg)
	}
	r, _, errno := syscall.Syscall6(uring.SYS_IO_URING_ENTER, uintptr(k.fd), uintptr(n), uintptr(atLeast), flags, arg, size)
	return enterResult(r, errno)
}

// cancelAll waits for a second at most. It is the best that can be done about a
// ring that is broken, and not even that before Linux 6.0.
func (k *sysKernel) cancelAll() {
	r := syncCancel{fd: -1, flags: cancelAll | cancelAny, timeout: timespec{sec: 1}}
	_ = register(k.fd, registerSyncCancel, unsafe.Pointer(&r), 1)
}

// knows reports whether the kernel has an operation.
func (k *sysKernel) knows(op uint8) bool {
	var p probe
	err := register(k.fd, uring.IORING_REGISTER_PROBE, unsafe.Pointer(&p), uint32(len(p.ops)))
	return err == nil && p.lastOp >= op
}

// enterResult sorts enter's errors. ETIME and EINTR end a wait and are no
// failure. EAGAIN and EBUSY say that the kernel is out of request memory or
// that completions must be reaped first: nothing was submitted, the driver
// reaps, pauses and tries again. Anything else means the ring is broken; EBADR among
// them says that completions were lost (io_uring_enter(2)).
func enterResult(r uintptr, errno syscall.Errno) (uint32, error) {
	switch errno {
	case 0:
		return uint32(r), nil
	case unix.ETIME, unix.EINTR, unix.EAGAIN, unix.EBUSY:
		return 0, nil
	}
	return 0, errno
}

// register calls io_uring_register(2) and returns a plain errno.
func register(fd int, op uint8, arg unsafe.Pointer, nr uint32) error {
	return unwrapErrno(uring.IOURingRegister(fd, op, arg, nr))
}
