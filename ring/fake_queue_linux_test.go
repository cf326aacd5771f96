package ring

import (
	"sync/atomic"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
)

// newFakeQueue is a queue over Go memory, as small as the test wants it.
// Lengths are powers of two, as the kernel's are.
func newFakeQueue(sqLen, cqLen uint32) *queue {
	w := new([7]uint32)
	return &queue{
		sqHead: &w[0], sqTail: &w[1], sqFlags: &w[2], sqMask: sqLen - 1, sqes: make([]sqe, sqLen),
		cqHead: &w[3], cqTail: &w[4], cqFlags: &w[5], cqDropped: &w[6], cqMask: cqLen - 1, cqes: make([]cqe, cqLen),
	}
}

// sqeView and cqeView have the layout of the kernel's structures, whose fields
// iouring-go keeps to itself.
type sqeView struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	off           uint64
	addr          unsafe.Pointer
	len           uint32
	opFlags       uint32
	userData      uint64
	bufIndex      uint16
}

type cqeView struct {
	userData uint64
	res      int32
	flags    uint32
}

// The kernel's side of the queue: take submissions, post completions.

func (q *queue) published() uint32 { return atomic.LoadUint32(q.sqTail) - atomic.LoadUint32(q.sqHead) }

// takeSQE copies the oldest entry out and wipes it, so that nothing works by
// luck that relies on an entry after its submission.
func (q *queue) takeSQE() sqeView {
	head := atomic.LoadUint32(q.sqHead)
	s := &q.sqes[head&q.sqMask]
	v := *(*sqeView)(unsafe.Pointer(s))
	s.Reset()
	s.PrepOperation(0xff, -1, 0, 0, 0)
	atomic.StoreUint32(q.sqHead, head+1)
	return v
}

func (q *queue) unreaped() uint32 { return atomic.LoadUint32(q.cqTail) - atomic.LoadUint32(q.cqHead) }

// postCQE reports whether there was room.
func (q *queue) postCQE(v cqeView) bool {
	tail := atomic.LoadUint32(q.cqTail)
	if tail-atomic.LoadUint32(q.cqHead) > q.cqMask {
		return false
	}
	writeCQE(&q.cqes[tail&q.cqMask], v)
	atomic.StoreUint32(q.cqTail, tail+1)
	return true
}

// writeCQE hides from the race detector: queue.find reads entries that may have
// become the kernel's again, and throws away what it has read then.
//
//go:norace
func writeCQE(c *cqe, v cqeView) { *(*cqeView)(unsafe.Pointer(c)) = v }

func (q *queue) flagOverflow(on bool) {
	v := uint32(0)
	if on {
		v = uring.IORING_SQ_CQ_OVERFLOW
	}
	atomic.StoreUint32(q.sqFlags, v)
}

func (q *queue) eventsOff() bool { return atomic.LoadUint32(q.cqFlags)&cqEventfdDisabled != 0 }
