package ring

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// fakeKernel is io_uring_enter over a queue in Go memory and sockets in Go
// memory. What it does wrong, and when, comes from rnd; only the order in which
// goroutines reach it does not, so a seed replays its faults, not its
// interleaving.
type fakeKernel struct {
	q     *queue
	efd   int // rung by completions, as a registered eventfd is
	odds  fakeOdds
	calm  bool   // nothing goes wrong, neither here nor at the peers
	arena *arena // whose buffers receives must keep to

	mu      sync.Mutex // the kernel's uring_lock
	rnd     *rand.Rand
	calls   int
	held    []cqeView     // overflowed
	bell    chan struct{} // rung when something was posted, for the one that waits
	waiting bool
	socks   map[int32]*fakeSock
	lent    map[uintptr]int // memory of handlers that values land in: its length by its start
	owners  map[uint64]bool // the slots and generations that were seen
	all     []*fakeSock
	fatal   syscall.Errno // every enter fails with it
	dropped bool          // a completion was lost: EBADR, told once
	lossy   bool          // the next completion is to be lost
	idle    bool          // the one that waits has submitted nothing, so EBADR can be told
	missed  []int32       // what the next cancellations answer, to no effect

	broke bool // for the one or the other reason
	cut   bool // cancelAll was called

	faults map[string]int
	wrong  []string
}

// fakeOdds are chances in thousandths, drawn anew for each seed: most seeds
// have only some of the faults, which then meet each other more often.
type fakeOdds struct {
	transient, partial, interrupt int // enter
	shortSend, sendAgain          int
	shortRecv, oneByte, recvAgain int
	late                          int // completions that could come with the submission, but do not
	cancelAgain                   int // cancellations that come at a bad time
	fatalCall                     int // the call at which enter breaks, or 0
	fatal                         syscall.Errno
}

// lossAnywhere has the kernel lose a completion at any time, not only while
// somebody waits who is told so at once.
var lossAnywhere = os.Getenv("FAKE_LOSS") != ""

func drawOdds(r *rand.Rand) (o fakeOdds) {
	for _, p := range []struct {
		odds *int
		most int
	}{
		{&o.transient, 150}, {&o.partial, 300}, {&o.interrupt, 200}, {&o.shortSend, 400}, {&o.sendAgain, 300},
		{&o.shortRecv, 500}, {&o.oneByte, 200}, {&o.recvAgain, 200}, {&o.late, 1000},
		{&o.cancelAgain, 500},
	} {
		if r.IntN(2) == 0 {
			*p.odds = r.IntN(p.most + 1)
		}
	}
	if r.IntN(8) == 0 {
		o.fatalCall = 1 + r.IntN(300)
		o.fatal = []syscall.Errno{unix.EBADR, unix.EFAULT, unix.ENXIO}[r.IntN(3)]
	}
	return o
}

// chance draws from rnd. mu is held.
func (k *fakeKernel) chance(odds int) bool { return odds > 0 && k.rnd.IntN(1000) < odds }

func (k *fakeKernel) complain(format string, args ...any) {
	if len(k.wrong) < 20 {
		k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
	}
}

func (k *fakeKernel) submit(n uint32) (uint32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return enterResult(k.enter(n))
}

func (k *fakeKernel) wait(n, atLeast uint32, timeout time.Duration) (uint32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting {
		k.complain("two goroutines wait at once")
	}
	r, errno := k.enter(n)
	if errno != 0 || uint32(r) < n {
		return enterResult(r, errno)
	}
	k.waiting, k.idle = true, n == 0
	errno = k.sleep(min(atLeast, k.q.cqMask+1), timeout)
	k.waiting, k.idle = false, false
	if r == 0 {
		if errno == unix.EBADR {
			k.dropped = false
		}
		return enterResult(0, errno)
	}
	return enterResult(r, 0) // the count hides the error
}

// enter submits. mu is held.
func (k *fakeKernel) enter(n uint32) (uintptr, syscall.Errno) {
	k.calls++
	if k.calls == k.odds.fatalCall {
		k.faults["fatal"]++
		if k.odds.fatal == unix.EBADR {
			k.lossy = true // the next completion is lost
		} else {
			k.fatal, k.broke = k.odds.fatal, true
			k.ring()
		}
	}
	if k.fatal != 0 {
		return 0, k.fatal
	}
	if n > 0 && k.chance(k.odds.transient) {
		k.faults["transient"]++
		return 0, []syscall.Errno{unix.EAGAIN, unix.EBUSY, unix.EINTR}[k.rnd.IntN(3)]
	}
	if p := k.q.published(); n > p {
		k.complain("enter for %d entries, but %d are published", n, p)
		n = p
	}
	if n > 1 && k.chance(k.odds.partial) {
		k.faults["partial"]++
		n = 1 + k.rnd.Uint32N(n-1)
	}
	for range n {
		k.start(k.q.takeSQE())
	}
	return uintptr(n), 0
}

// start begins one operation. mu is held.
func (k *fakeKernel) start(s sqeView) {
	switch s.opcode {
	case uring.IORING_OP_NOP:
		k.post(s.userData, 0)
		return
	case uring.IORING_OP_ASYNC_CANCEL:
		k.cancel(s)
		return
	case uring.IORING_OP_SEND, uring.IORING_OP_SENDMSG, uring.IORING_OP_RECV, uring.IORING_OP_READ_FIXED:
	default:
		k.complain("opcode %d", s.opcode)
		return
	}
	f := k.socks[s.fd]
	switch {
	case f == nil:
		k.complain("operation %d on descriptor %d, which is no socket", s.opcode, s.fd)
		k.post(s.userData, -int32(unix.EBADF))
	case s.opcode == uring.IORING_OP_SEND:
		f.startSend(s, [][]byte{unsafe.Slice((*byte)(s.addr), s.len)})
	case s.opcode == uring.IORING_OP_SENDMSG:
		k.faults["sendmsg"]++ // no fault either
		f.startSend(s, pieces((*unix.Msghdr)(s.addr)))
	default:
		f.startRecv(s)
	}
}

// sleep waits for completions. mu is held, but not while it sleeps.
func (k *fakeKernel) sleep(atLeast uint32, timeout time.Duration) syscall.Errno {
	k.flush()
	var ring <-chan time.Time
	why := unix.ETIME
	if timeout > 0 {
		ring = time.After(timeout)
	}
	if k.chance(k.odds.interrupt) {
		if d := time.Duration(k.rnd.IntN(1000)) * time.Microsecond; timeout == 0 || d < timeout {
			k.faults["interrupt"]++
			ring, why = time.After(d), unix.EINTR
		}
	}
	for k.q.unreaped() < atLeast {
		switch {
		case k.fatal != 0:
			return k.fatal
		case k.dropped:
			return unix.EBADR
		}
		k.mu.Unlock()
		over := false
		select {
		case <-k.bell:
		case <-ring:
			over = true
		}
		k.mu.Lock()
		k.flush()
		if over {
			return why
		}
	}
	if k.dropped {
		return unix.EBADR
	}
	return 0
}

// post makes a completion, or holds it back if the queue is full, or others are
// held back already. mu is held.
func (k *fakeKernel) post(userData uint64, res int32) {
	if k.lossy && (k.idle || lossAnywhere) {
		k.lossy, k.dropped, k.broke = false, true, true
		atomic.AddUint32(k.q.cqDropped, 1)
		k.ring()
		return
	}
	v := cqeView{userData: userData, res: res}
	if len(k.held) > 0 || !k.q.postCQE(v) {
		k.faults["overflow"]++
		k.held = append(k.held, v)
		k.q.flagOverflow(true)
	}
	k.ring()
}

// flush hands out what was held back, as far as there is room. mu is held.
func (k *fakeKernel) flush() {
	for len(k.held) > 0 && k.q.postCQE(k.held[0]) {
		k.held = k.held[1:]
	}
	k.q.flagOverflow(len(k.held) > 0)
}

// ring wakes whoever waits, here or for the eventfd. mu is held.
func (k *fakeKernel) ring() {
	select {
	case k.bell <- struct{}{}:
	default:
	}
	if !k.q.eventsOff() {
		_, _ = unix.Write(k.efd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}
