package limit

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// Ring gets values with one io_uring_enter each, which sends the request, has the receive armed into a
// registered buffer, and waits for both. It is called as any goroutine calls the kernel, with
// [syscall.Syscall6].
type Ring struct {
	fd, sock int
	mem      []byte // both rings
	smem     []byte // submission entries
	sqTail   *uint32
	sqMask   uint32
	sqes     []uring.SubmissionQueueEntry64
	cqHead   *uint32
	cqTail   *uint32
	cqMask   uint32
	cqes     []uring.CompletionQueueEvent16
	buf      []byte // mapped: no Go memory, as the kernel writes to it
	out      []byte // the start of buf's mapping: requests
}

const (
	entries  = 4
	outSize  = 4 << 10
	userSend = 1
	userRecv = 2
)

// OpenRing connects to a UNIX socket and sets a ring up.
func OpenRing(path string) (c *Ring, err error) {
	c = &Ring{fd: -1, sock: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	var p uring.IOURingParams
	for _, flags := range []uint32{uring.IORING_SETUP_COOP_TASKRUN, 0} { // Linux 5.19: no interrupt for task work
		p = uring.IOURingParams{Flags: flags}
		if c.fd, err = uring.IOURingSetup(entries, &p); !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	if err != nil {
		c.fd = -1
		return c, fmt.Errorf("io_uring_setup: %w", err)
	}
	if p.Features&uring.IORING_FEAT_SINGLE_MMAP == 0 {
		return c, errors.New("io_uring of this kernel is too old")
	}
	size := max(p.SQOffset.Array+p.SQEntries*4, p.CQOffset.Cqes+p.CQEntries*uint32(unsafe.Sizeof(uring.CompletionQueueEvent16{})))
	const prot, shared = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	if c.mem, err = unix.Mmap(c.fd, int64(uring.IORING_OFF_SQ_RING), int(size), prot, shared); err != nil {
		return c, err
	}
	size = p.SQEntries * uint32(unsafe.Sizeof(uring.SubmissionQueueEntry64{}))
	if c.smem, err = unix.Mmap(c.fd, int64(uring.IORING_OFF_SQES), int(size), prot, shared); err != nil {
		return c, err
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&c.mem[off])) }
	c.sqTail, c.sqMask = at(p.SQOffset.Tail), *at(p.SQOffset.RingMask)
	c.sqes = unsafe.Slice((*uring.SubmissionQueueEntry64)(unsafe.Pointer(&c.smem[0])), p.SQEntries)
	c.cqHead, c.cqTail, c.cqMask = at(p.CQOffset.Head), at(p.CQOffset.Tail), *at(p.CQOffset.RingMask)
	c.cqes = unsafe.Slice((*uring.CompletionQueueEvent16)(unsafe.Pointer(&c.mem[p.CQOffset.Cqes])), p.CQEntries)
	for i, array := uint32(0), unsafe.Slice(at(p.SQOffset.Array), p.SQEntries); i < p.SQEntries; i++ {
		array[i] = i
	}

	mem, err := unix.Mmap(-1, 0, outSize+bufferSize, prot, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return c, err
	}
	c.out, c.buf = mem[:outSize:outSize], mem[outSize:]
	iov := &unix.Iovec{Base: &c.buf[0]}
	iov.SetLen(len(c.buf))
	if err := uring.IOURingRegister(c.fd, uring.IORING_REGISTER_BUFFERS, unsafe.Pointer(iov), 1); err != nil {
		return c, fmt.Errorf("io_uring_register: %w", err)
	}
	c.sock, err = connect(path)
	return c, err
}

// entry returns the next submission entry, cleared. There is room: each enter takes all.
func (c *Ring) entry(i uint32) *uring.SubmissionQueueEntry64 {
	s := &c.sqes[(*c.sqTail+i)&c.sqMask]
	s.Reset()
	return s
}

// receive has an entry read what comes behind the first have bytes.
func (c *Ring) receive(s *uring.SubmissionQueueEntry64, have int) {
	free := c.buf[have:]
	s.PrepOperation(uring.IORING_OP_READ_FIXED, int32(c.sock), uint64(uintptr(unsafe.Pointer(&free[0]))), uint32(len(free)), 0)
	s.SetBufIndex(0)
	s.SetUserData(userRecv)
}

// enter submits n entries and waits until they have completed. It returns the bytes received.
func (c *Ring) enter(n uint32) (received int, err error) {
	atomic.StoreUint32(c.sqTail, *c.sqTail+n)
	for submit, done := n, uint32(0); done < n; {
		r, _, errno := syscall.Syscall6(uring.SYS_IO_URING_ENTER, uintptr(c.fd), uintptr(submit), uintptr(n-done),
			uintptr(uring.IORING_ENTER_FLAGS_GETEVENTS), 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return 0, errno
		}
		if errno == 0 {
			submit -= min(submit, uint32(r))
		}
		for head := *c.cqHead; head != atomic.LoadUint32(c.cqTail); head++ {
			cqe := &c.cqes[head&c.cqMask]
			user, res := cqe.UserData(), cqe.Result()
			atomic.StoreUint32(c.cqHead, head+1)
			done++
			switch {
			case res < 0:
				err = unix.Errno(-res)
			case user == userRecv && res == 0:
				err = io.ErrUnexpectedEOF
			case user == userRecv:
				received = int(res)
			}
		}
	}
	return received, err
}

// GetAppend appends the value of a key that exists.
func (c *Ring) GetAppend(dst []byte, key string) ([]byte, error) {
	out := appendGet(c.out[:0], key)
	s := c.entry(0)
	s.PrepOperation(uring.IORING_OP_SEND, int32(c.sock), uint64(uintptr(unsafe.Pointer(&out[0]))), uint32(len(out)), 0)
	s.SetOpFlags(unix.MSG_NOSIGNAL)
	s.SetUserData(userSend)
	c.receive(c.entry(1), 0)
	n, err := c.enter(2)
	for have := n; ; have += n {
		if err != nil {
			return dst, err
		}
		value, err := reply(c.buf[:have])
		if err != nil || value != nil {
			return append(dst, value...), err
		}
		c.receive(c.entry(0), have)
		if n, err = c.enter(1); err != nil {
			return dst, err
		}
	}
}

// Close closes the connection and the ring. Nothing may be under way.
func (c *Ring) Close() error {
	var errs []error
	for _, fd := range []int{c.sock, c.fd} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	for _, m := range [][]byte{c.mem, c.smem} {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	if c.buf != nil {
		errs = append(errs, unix.Munmap(unsafe.Slice(&c.out[0], outSize+bufferSize)))
	}
	c.fd, c.sock, c.mem, c.smem, c.buf = -1, -1, nil, nil, nil
	return errors.Join(errs...)
}
