package ring

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

const (
	slabBuffers = 16      // buffers mapped at once: 1 MiB
	maxBuffers  = 1 << 14 // the kernel's bound on registered buffers (IORING_MAX_REG_BUFFERS)
)

// arena owns the receive buffers, one to a connection slot. Slabs are mapped
// as slots come into use and live as long as the ring; a buffer is registered
// the first time its slot is used and stays so, since pinning costs more than
// the memory's keep. Guarded by Engine.mu.
//
// Buffers are no Go memory: the kernel may write to one at any time between
// the submission of a receive and its completion, whatever becomes of the
// goroutine behind it.
//
// They need no MADV_DONTFORK. os/exec makes its child with CLONE_VM|CLONE_VFORK,
// which copies no page table, and from any other fork(2), such as cgo's, the
// child gets copies of pinned pages at once, the parent keeps its own (Linux 5.9,
// 70e806e4e645).
type arena struct {
	ringFD     int
	slabs      [][]byte
	registered []bool // by slot; the kernel knows the buffer under the same index
	table      bool   // the kernel has a table of buffers to fill
	refused    error  // why buffers are not registered, once that has happened
}

// openTable makes an empty table of registered buffers, to be filled slot by
// slot. A kernel without sparse tables (before 5.19) or one that has no memory
// for it leaves us with plain receives; any other refusal is an error.
func (a *arena) openTable() error {
	r := rsrcRegister{nr: maxBuffers, flags: rsrcRegisterSparse}
	err := register(a.ringFD, registerBuffers2, unsafe.Pointer(&r), uint32(unsafe.Sizeof(r)))
	switch {
	case err == nil:
		a.table = true
		return nil
	case errors.Is(err, unix.EINVAL):
		a.refused = fmt.Errorf("io_uring_register: %w (this kernel has no sparse buffer tables: Linux 5.19 or later is needed to register receive buffers)", err)
		return nil
	case errors.Is(err, unix.ENOMEM):
		a.refused = memlockError(err)
		return nil
	}
	return setupError("io_uring_register", err)
}

// buffer returns slot's buffer and whether it is registered.
func (a *arena) buffer(slot int) (buf []byte, fixed bool, err error) {
	for slot >= len(a.slabs)*slabBuffers {
		slab, err := unix.Mmap(-1, 0, slabBuffers*transport.WindowSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return nil, false, fmt.Errorf("mapping receive buffers: %w", err)
		}
		// Registering part of a huge page charges all of it to RLIMIT_MEMLOCK.
		// A kernel without huge pages answers EINVAL, which suits us.
		_ = unix.Madvise(slab, unix.MADV_NOHUGEPAGE)
		a.slabs = append(a.slabs, slab)
		a.registered = append(a.registered, make([]bool, slabBuffers)...)
	}
	off := slot % slabBuffers * transport.WindowSize
	buf = a.slabs[slot/slabBuffers][off : off+transport.WindowSize : off+transport.WindowSize]
	if !a.registered[slot] && a.table {
		a.register(slot, buf)
	}
	return buf, a.registered[slot], nil
}

// register makes buf known to the kernel. A refusal is remembered, and the
// next slot tries again: the limit counts what the user's other processes hold
// too, which changes.
func (a *arena) register(slot int, buf []byte) {
	// iov's address sits in u as a number, which keeps nothing alive and does
	// not follow a stack that moves: pin it for the call.
	var pin runtime.Pinner
	defer pin.Unpin()
	iov := &unix.Iovec{Base: &buf[0]}
	pin.Pin(iov)
	iov.SetLen(len(buf))
	u := rsrcUpdate2{offset: uint32(slot), data: uint64(uintptr(unsafe.Pointer(iov))), nr: 1}
	if err := register(a.ringFD, registerBuffersUpdate, unsafe.Pointer(&u), uint32(unsafe.Sizeof(u))); err != nil {
		a.refused = memlockError(err)
		return
	}
	a.registered[slot] = true
}

// unregister lets the kernel unpin the buffers. Nothing may be in flight.
func (a *arena) unregister() {
	if a.table {
		_ = register(a.ringFD, uring.IORING_UNREGISTER_BUFFERS, nil, 0)
	}
}

// unmap gives all buffers back. The ring must be closed, so that the kernel
// has let go of them.
func (a *arena) unmap() {
	for _, s := range a.slabs {
		_ = unix.Munmap(s)
	}
	a.slabs = nil
}

func memlockError(err error) error {
	return fmt.Errorf("io_uring works with plain receives on connections whose receive buffers can't be registered: io_uring_register: %w (each connection needs %d KiB; %s)",
		err, transport.WindowSize>>10, memlockAdvice())
}
