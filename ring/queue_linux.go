package ring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

type (
	sqe = uring.SubmissionQueueEntry64
	cqe = uring.CompletionQueueEvent16
)

// queue is the pair of queues shared with the kernel. The submission side is
// guarded by Engine.mu; the completion side belongs to the driver.
type queue struct {
	mem  []byte // SQ and CQ rings, IORING_FEAT_SINGLE_MMAP
	smem []byte // SQEs

	sqHead, sqTail, sqFlags *uint32
	sqMask                  uint32
	sqes                    []sqe
	tail                    uint32 // our copy of *sqTail; entries from there to it are filled but not published

	cqHead, cqTail, cqFlags *uint32
	cqDropped               *uint32
	cqMask                  uint32
	cqes                    []cqe
}

// mapQueue maps the queues of a ring that setup has made.
func mapQueue(fd int, p *uring.IOURingParams) (*queue, error) {
	sqLen := p.SQOffset.Array + p.SQEntries*4
	cqLen := p.CQOffset.Cqes + p.CQEntries*uint32(unsafe.Sizeof(cqe{}))
	mem, err := mapShared(fd, int64(uring.IORING_OFF_SQ_RING), int(max(sqLen, cqLen)))
	if err != nil {
		return nil, fmt.Errorf("mapping the queues: %w", err)
	}
	smem, err := mapShared(fd, int64(uring.IORING_OFF_SQES), int(p.SQEntries)*int(unsafe.Sizeof(sqe{})))
	if err != nil {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("mapping the submission entries: %w", err)
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&mem[off])) }
	q := &queue{
		mem: mem, smem: smem,
		sqHead: at(p.SQOffset.Head), sqTail: at(p.SQOffset.Tail), sqFlags: at(p.SQOffset.Flags),
		sqMask: *at(p.SQOffset.RingMask),
		sqes:   unsafe.Slice((*sqe)(unsafe.Pointer(&smem[0])), p.SQEntries),
		cqHead: at(p.CQOffset.Head), cqTail: at(p.CQOffset.Tail), cqFlags: at(p.CQOffset.Flags),
		cqDropped: at(p.CQOffset.Overflow),
		cqMask:    *at(p.CQOffset.RingMask),
		cqes:      unsafe.Slice((*cqe)(unsafe.Pointer(&mem[p.CQOffset.Cqes])), p.CQEntries),
	}
	// The index array is an indirection we have no use for: entry i is SQE i.
	for i, array := uint32(0), unsafe.Slice(at(p.SQOffset.Array), p.SQEntries); i < p.SQEntries; i++ {
		array[i] = i
	}
	return q, nil
}

func mapShared(fd int, off int64, n int) ([]byte, error) {
	return unix.Mmap(fd, off, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
}

func (q *queue) unmap() {
	_ = unix.Munmap(q.mem)
	_ = unix.Munmap(q.smem)
}

// next returns a cleared submission entry, or nil if the queue is full.
func (q *queue) next() *sqe {
	if q.tail-atomic.LoadUint32(q.sqHead) >= uint32(len(q.sqes)) {
		return nil
	}
	s := &q.sqes[q.tail&q.sqMask]
	s.Reset()
	q.tail++
	return s
}

// publish shows the filled entries to the kernel, which takes them at the next
// enter.
func (q *queue) publish() { atomic.StoreUint32(q.sqTail, q.tail) }

// ready reports whether a completion lies in the queue.
func (q *queue) ready() bool { return atomic.LoadUint32(q.cqHead) != atomic.LoadUint32(q.cqTail) }

// overflowed reports whether the kernel holds completions back because the
// queue was full. It loses none (IORING_FEAT_NODROP), but hands them out only
// to an enter that waits.
func (q *queue) overflowed() bool {
	return atomic.LoadUint32(q.sqFlags)&uring.IORING_SQ_CQ_OVERFLOW != 0
}

// dropped reports whether the kernel has lost completions, for want of memory to
// keep them in. It says so (EBADR) only to an enter that waits.
func (q *queue) dropped() bool { return atomic.LoadUint32(q.cqDropped) != 0 }

// pending reports whether there is anything to reap, in the queue or held back.
func (q *queue) pending() bool { return q.ready() || q.overflowed() }

// pop takes the oldest completion.
func (q *queue) pop() (userData uint64, res int32, ok bool) {
	head := atomic.LoadUint32(q.cqHead)
	if head == atomic.LoadUint32(q.cqTail) {
		return 0, 0, false
	}
	c := &q.cqes[head&q.cqMask]
	userData, res = c.UserData(), c.Result()
	atomic.StoreUint32(q.cqHead, head+1) // after the entry was read: the kernel may overwrite it now
	return userData, res, true
}

// find looks for a completion without taking it: the one with that user data
// that comes behind skip others of the same. It may be called beside the driver,
// and then finds what the driver has not taken yet, or nothing.
func (q *queue) find(userData uint64, skip int) (res int32, ok bool) {
	head := atomic.LoadUint32(q.cqHead)
	for i := head; i != atomic.LoadUint32(q.cqTail); i++ {
		c := &q.cqes[i&q.cqMask]
		if c.UserData() != userData {
			continue
		}
		if skip--; skip < 0 {
			res, ok = c.Result(), true
			break
		}
	}
	// An entry is the kernel's again once the driver has moved past it. If it has
	// moved at all, what was read here may be anything.
	if atomic.LoadUint32(q.cqHead) != head {
		return 0, false
	}
	return res, ok
}

// armEvent lets completions ring the eventfd, or not. The flag is ours to
// write at any time, see IORING_CQ_EVENTFD_DISABLED in io_uring_register(2).
func (q *queue) armEvent(on bool) {
	var v uint32
	if !on {
		v = cqEventfdDisabled
	}
	atomic.StoreUint32(q.cqFlags, v)
}
