package ring

import (
	"runtime"
	"time"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// crowdMemory is for how many flushes without company the ring goes on to
// yield before each.
const crowdMemory = 16

// markDirty queues c for the next flush.
func (e *Engine) markDirty(c *conn) {
	e.mu.Lock()
	e.dirty = append(e.dirty, c)
	e.nDirty.Store(int32(len(e.dirty)))
	if len(e.dirty) > 1 {
		e.crowded()
	}
	e.mu.Unlock()
}

// crowded notes that requests of several callers wait at the same time.
func (e *Engine) crowded() {
	if e.crowd.Load() != crowdMemory {
		e.crowd.Store(crowdMemory)
	}
}

// gather gives other callers that are ready to run the chance to add their
// requests to the batch that is about to be flushed. It halves the CPU per
// request in a crowd; a lone caller does not do it, since the yield would wake
// another thread to look for work.
func (e *Engine) gather() {
	if n := e.crowd.Load(); n > 0 {
		e.crowd.Store(n - 1)
		runtime.Gosched()
	} else if pace(e.pace.Load()) == steady {
		runtime.Gosched() // see steadyTime
	}
}

// restRecv has c's receive armed with the next enter. Driver only.
func (e *Engine) restRecv(c *conn) {
	if !c.rest {
		c.rest = true
		e.resting = append(e.resting, c)
	}
}

// entry returns a free submission entry, making room if there is none. mu is
// held.
func (e *Engine) entry() *sqe {
	for {
		if s := e.q.next(); s != nil {
			return s
		}
		e.q.publish()
		n, err := e.k.submit(e.unclaimed)
		e.enters.Add(1)
		e.unclaimed -= n
		if err != nil || n == 0 {
			return nil
		}
	}
}

// fillSends makes entries of all pending sends and returns how many are sure
// to complete during their submission. mu is held.
func (e *Engine) fillSends() (prompt uint32) {
	for i, c := range e.dirty {
		s := e.entry()
		if s == nil { // the kernel takes none now; the next flush goes on here
			e.dirty = append(e.dirty[:0], e.dirty[i:]...)
			e.nDirty.Store(int32(len(e.dirty)))
			return prompt
		}
		ok, p := c.takeSend(s)
		if !ok {
			e.q.tail-- // not used
			continue
		}
		e.unclaimed++
		if p {
			prompt++
		}
	}
	clear(e.dirty)
	e.dirty = e.dirty[:0]
	e.nDirty.Store(0)
	return prompt
}

// fillRecvs makes entries of all receives to be armed. Driver only, mu is held.
func (e *Engine) fillRecvs() {
	for i, c := range e.resting {
		if c.gone.Load() {
			c.rest = false
			continue
		}
		s := e.entry()
		if s == nil {
			e.resting = append(e.resting[:0], e.resting[i:]...)
			return
		}
		c.rest = false
		c.armed = true
		c.fillRecv(s)
		e.unclaimed++
	}
	clear(e.resting)
	e.resting = e.resting[:0]
}

// claim publishes what was filled and makes the caller the one who submits it.
// mu is held.
func (e *Engine) claim() (n uint32) {
	e.q.publish()
	n, e.unclaimed = e.unclaimed, 0
	return n
}

// unclaim gives back what an enter did not take.
func (e *Engine) unclaim(n uint32) {
	if n > 0 {
		e.mu.Lock()
		e.unclaimLocked(n)
		e.mu.Unlock()
	}
}

// unclaimLocked is unclaim with mu held. The next who enters submits the
// entries; the tick is for when nobody does.
func (e *Engine) unclaimLocked(n uint32) {
	if n > 0 {
		e.unclaimed += n
		e.keeper.ensureTick(idleTick)
	}
}

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

// submitAside submits sends for a caller that is not the driver, while the
// driver sleeps in the kernel and so cannot. It yields once before, so that
// callers behind it can add theirs; of those only one submits. A driver that is
// awake needs no help: it looks for sends after whatever it does now.
//
// One that comes while another is in its system call relies on it, which
// therefore looks for more when it is done.
func (e *Engine) submitAside() {
	for e.nDirty.Load() > 0 && e.inKernel.Load() && e.submitter.CompareAndSwap(false, true) {
		e.crowded()
		runtime.Gosched()
		e.mu.Lock()
		n := uint32(0)
		if e.inKernel.Load() {
			e.fillSends()
			n = e.claim()
		}
		e.mu.Unlock()
		if n > 0 {
			e.enters.Add(1)
			done, err := e.k.submit(n)
			e.unclaim(n - done)
			_ = err // a driver's next enter meets it too, and ends the connections
		}
		e.submitter.Store(false)
	}
}

// nudge makes a completion appear, which wakes the driver out of the kernel, or
// else the keeper.
func (e *Engine) nudge() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead.Load() {
		return // and the queue is unmapped
	}
	s := e.entry()
	if s == nil {
		return // the queue is full of things that will complete
	}
	s.PrepOperation(uring.IORING_OP_NOP, -1, 0, 0, 0)
	e.unclaimed++
	n := e.claim()
	e.enters.Add(1)
	done, _ := e.k.submit(n)
	e.unclaimLocked(n - done) // the tick comes here again if the driver sleeps on
}

// reap takes in every completion and returns how much news there was: receives
// that completed and connections that ended. Driver only.
func (e *Engine) reap() (n int) {
	buried := e.buried
	defer func() { n += e.buried - buried }()
	for {
		ud, res, ok := e.q.pop()
		if !ok {
			if e.q.overflowed() {
				if _, err := e.k.wait(0, 0, 0); err != nil {
					e.breakDown(err)
				} else if e.q.ready() {
					continue
				}
			}
			break
		}
		switch c, kind := e.slots.owner(ud); {
		case c == nil: // a NOP
		case kind == opRecv:
			n++
			c.recvDone(res)
		case kind == opSend:
			c.sendDone(res)
		}
	}
	e.takeClosing()
	return n
}

// takeClosing buries connections that were closed and have nothing in the
// kernel.
func (e *Engine) takeClosing() {
	if !e.anyClosing.Load() {
		return
	}
	e.mu.Lock()
	list := e.closing
	e.closing = nil
	e.anyClosing.Store(false)
	e.mu.Unlock()
	for _, c := range list {
		e.bury(c)
	}
}

// noticeClose brings a closed connection to the driver's notice.
func (e *Engine) noticeClose(c *conn) {
	e.mu.Lock()
	e.closing = append(e.closing, c)
	e.anyClosing.Store(true)
	e.mu.Unlock()
	e.nudge()
}

// fail ends c because of err; the first reason is the one reported. Driver
// only.
func (e *Engine) fail(c *conn, err error) {
	c.mu.Lock()
	if c.dead == nil {
		c.die(err)
	}
	c.mu.Unlock()
	e.bury(c)
}

// bury ends a dead connection for good as soon as the kernel holds nothing of
// it; until then its completions lead here again. Driver only.
func (e *Engine) bury(c *conn) {
	lost := e.lost.Load()
	c.mu.Lock()
	if c.ended || (c.armed || c.sending || c.ahead > 0) && lost == nil {
		c.mu.Unlock()
		return
	}
	c.ended = true
	e.buried++
	err := c.dead
	_ = unix.Close(c.fd) // under mu, where die would shut it down
	c.mu.Unlock()

	c.h.Closed(err)

	e.mu.Lock()
	defer e.mu.Unlock()
	e.slots.give(c.slot, lost == nil)
	if e.closed && e.slots.used == 0 {
		close(e.drained)
	}
}
