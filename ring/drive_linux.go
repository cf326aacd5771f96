package ring

import (
	"time"

	"github.com/memring/memring/client/transport"
)

// How a turn waits for completions.
type waitKind uint8

const (
	waitNot    waitKind = iota
	waitKernel          // blocked in io_uring_enter
	waitPoller          // parked in Go's network poller
)

// turn is one round of the driver: submit everything, wait if nothing has come
// yet, take in what completed. It returns how much news there was, see reap. A
// wait ends when the keeper rouses the driver, if not before; deadline only
// bounds it more exactly if it is near. w is the driver's own waiter.
//
// Sends come before receives: the server works while the receives are armed.
func (e *Engine) turn(how waitKind, w *transport.Waiter, deadline int64) (news int) {
	e.mu.Lock()
	prompt := e.fillSends()
	e.fillRecvs()
	e.fillCancels()
	n := e.claim()
	if e.q.ready() || e.lost.Load() != nil {
		how = waitNot
	}
	e.inKernel.Store(how != waitNot)
	e.mu.Unlock()

	var done uint32
	switch how {
	case waitKernel:
		done, news = e.waitInKernel(n, prompt, deadline)
	case waitPoller:
		done, news = e.waitInPoller(n, w, deadline)
	default:
		done, news = e.submit(n), e.reap()
	}
	e.unclaim(n - done)
	if err := e.failed.Load(); err != nil {
		e.breakDown(*err)
	}
	return news
}

// waitInKernel submits n entries and blocks in the same system call. Small sends
// complete within it, so it waits for one completion more than those: the first
// that is news. If another thread submits some of our entries (or we some of
// its), every one of these completions still lands in the queue, so this can
// wake too early. It can wake too late only if a small send did not find room in
// the socket: the rest of it goes out when the keeper rouses the driver.
func (e *Engine) waitInKernel(n, prompt uint32, deadline int64) (done uint32, news int) {
	e.keeper.ensureTick(e.waitTick())
	var begun int64
	if e.turns.Add(1)%sampleWaits == 0 {
		begun = transport.Now()
	}
	e.enters.Add(1)
	done, err := e.k.wait(n, prompt+1, e.keeper.timeout(deadline))
	e.inKernel.Store(false)
	if err != nil {
		e.fatal(err)
	}
	if begun != 0 {
		e.judge(time.Duration(transport.Now() - begun))
	}
	return done, e.reap()
}

// waitInPoller submits n entries, takes in what has completed by then, and parks
// if that was nothing that anybody could be waiting for.
func (e *Engine) waitInPoller(n uint32, w *transport.Waiter, deadline int64) (done uint32, news int) {
	e.keeper.ensureTick(e.waitTick())
	e.turns.Add(1)
	begun, nops := transport.Now(), e.nops
	done, news = e.submit(n), e.reap()
	if news == 0 && e.nops == nops && !w.Signalled() && e.nDirty.Load() == 0 && e.failed.Load() == nil {
		e.park(e.keeper.timeout(deadline))
		e.inKernel.Store(false)
		e.judge(time.Duration(transport.Now() - begun))
		news = e.reap()
	}
	e.inKernel.Store(false)
	return done, news
}

// park waits for a completion in Go's poller.
func (e *Engine) park(timeout time.Duration) {
	if timeout > 0 {
		e.poller.limit(timeout)
		defer e.poller.limit(never)
	}
	e.q.armEvent(true)
	_ = e.poller.wait() // a deadline is for drive to look at
	e.q.armEvent(false)
	if e.limited.Load() && e.limited.Swap(false) {
		e.poller.limit(never)
	}
}

// pace is how long the driver's waits are. It is measured now and then only.
type pace int32

const (
	quick  pace = iota // a goroutine switch would take about as long
	steady             // like a network's
	slow               // somebody has trouble
)

// A driver that waits in the kernel keeps a thread and Go's P with it: the
// cheapest way, and the fastest. On a slow ring it waits in Go's poller instead.
// In between it blocks, but yields before: Go's scheduler looks at timers
// when it schedules, and with all callers blocked nobody does. Without the yield
// a goroutine that slept while a lone caller waited for 150 µs at a time was
// woken 0.5 ms late instead of 0.1 ms.
const (
	steadyTime  = 100 * time.Microsecond
	slowTime    = time.Millisecond
	sampleWaits = 16
)

// judge sets the pace by the length of a wait.
func (e *Engine) judge(d time.Duration) {
	p := quick
	if d > slowTime {
		p = slow
	} else if d > steadyTime {
		p = steady
	}
	if p != pace(e.pace.Load()) {
		e.pace.Store(int32(p))
	}
}

// waitKind is how a driver has to wait. With one P it must not block in the
// kernel: it would keep the P from every other goroutine until sysmon takes it
// away, up to 10 ms later.
func (e *Engine) waitKind() waitKind {
	if e.single.Load() || pace(e.pace.Load()) == slow {
		return waitPoller
	}
	return waitKernel
}
