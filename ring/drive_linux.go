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
// yet, take in what completed. It returns how many receives that were. A wait
// ends when the keeper rouses the driver, if not before; deadline only bounds it
// more exactly if it is near.
//
// Sends come before receives: the server works while the receives are armed.
// They complete promptly, so a wait in the kernel is for one completion more
// than that: the first that is news. If another thread submits some of our
// entries (or we some of its), every prompt send's completion still lands in the
// queue, so this can wake too early, never too late.
func (e *Engine) turn(how waitKind, deadline int64) int {
	e.mu.Lock()
	prompt := e.fillSends()
	e.fillRecvs()
	n := e.claim()
	if e.q.ready() {
		how = waitNot
	}
	e.inKernel.Store(how != waitNot)
	e.mu.Unlock()

	var begun int64
	if how != waitNot {
		e.keeper.ensureTick(e.waitTick())
		if turns := e.turns.Add(1); how == waitPoller || turns%sampleWaits == 0 {
			begun = transport.Now()
		}
	}
	switch {
	case how == waitKernel:
		e.enter(n, func() (uint32, error) { return e.k.wait(n, prompt+1, e.keeper.timeout(deadline)) })
	case n > 0:
		e.enter(n, func() (uint32, error) { return e.k.submit(n) })
	}
	got := 0
	if how == waitPoller {
		if got = e.reap(); got == 0 { // the sends, that is
			e.park(e.keeper.timeout(deadline))
		}
	}
	e.inKernel.Store(false)
	if begun != 0 {
		e.judge(time.Duration(transport.Now() - begun))
	}
	return got + e.reap()
}

// enter makes a system call that submits n entries, and keeps the books.
func (e *Engine) enter(n uint32, call func() (uint32, error)) {
	e.enters.Add(1)
	done, err := call()
	e.unclaim(n - done)
	if err != nil {
		e.breakDown(err)
	}
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
