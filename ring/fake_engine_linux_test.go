package ring

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// newFakeEngine is what New and startKeeper make, over a fake kernel, but for
// the keeper's goroutine. The queues are small enough to be full often.
func newFakeEngine(r *rand.Rand) (*Engine, *fakeKernel, error) {
	k := &fakeKernel{
		q:   newFakeQueue(1<<(1+r.IntN(5)), 1<<(1+r.IntN(6))),
		rnd: r, odds: drawOdds(r),
		bell: make(chan struct{}, 1), socks: map[int32]*fakeSock{}, owners: map[uint64]bool{}, faults: map[string]int{},
		lent: map[uintptr]int{},
	}
	e := &Engine{k: k, q: k.q, ringFD: -1, drained: make(chan struct{}), pollFirst: r.IntN(2) == 0, keepsCount: r.IntN(2) == 0}
	k.arena = &e.arena
	// Heap memory, which the race detector knows, and of which some is
	// registered.
	e.arena.slabs = [][]byte{make([]byte, slabBuffers*transport.WindowSize)}
	e.arena.registered = make([]bool, slabBuffers)
	for i := range e.arena.registered {
		e.arena.registered[i] = r.IntN(3) > 0
	}
	e.pace.Store(r.Int32N(int32(slow) + 1))
	var err error
	if k.efd, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, nil, err
	}
	var fds [2]int
	for i := range fds {
		if fds[i], err = unix.FcntlInt(uintptr(k.efd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return nil, nil, err
		}
	}
	watch, err := newPollWait(fds[0], e.q.pending)
	if err != nil {
		return nil, nil, err
	}
	if e.poller, err = newPollWait(fds[1], e.q.pending); err != nil {
		return nil, nil, err
	}
	e.keeper.init(watch)
	return e, k, nil
}

// TestFakeLayout makes sure that the views of the queues' entries fit.
func TestFakeLayout(t *testing.T) {
	q := newFakeQueue(2, 2)
	s := q.next()
	s.PrepOperation(7, 8, 0, 10, 11)
	s.SetOpFlags(12)
	s.SetUserData(13)
	s.SetBufIndex(14)
	s.SetIoprio(15)
	q.publish()
	if got, want := q.takeSQE(), (sqeView{opcode: 7, fd: 8, len: 10, off: 11, opFlags: 12, userData: 13, bufIndex: 14, ioprio: 15}); got != want {
		t.Fatalf("submission entry %+v, want %+v", got, want)
	}
	q.postCQE(cqeView{userData: 1, res: -2})
	if ud, res, ok := q.pop(); ud != 1 || res != -2 || !ok {
		t.Fatalf("completion %d %d %v", ud, res, ok)
	}
}
