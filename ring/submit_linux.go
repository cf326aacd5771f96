package ring

import (
	"runtime"

	uring "github.com/iceber/iouring-go/syscall"
)

// crowdMemory is for how many flushes without company the ring goes on to
// yield before each.
const crowdMemory = 16

// markDirty queues c for the next flush, and for the sweeps if it holds buffers
// anew.
func (e *Engine) markDirty(c *conn, holds bool) {
	e.mu.Lock()
	if holds {
		e.holding = append(e.holding, c)
	}
	e.dirty = append(e.dirty, c)
	e.nDirty.Store(int32(len(e.dirty)))
	if len(e.dirty) > 1 {
		e.crowded()
	}
	e.mu.Unlock()
	if holds {
		e.keeper.ensureTick(idleTick)
	}
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
		n := e.submit(e.unclaimed)
		e.unclaimed -= n
		if n == 0 {
			return nil
		}
	}
}

// submit makes a system call that submits n entries without waiting, and returns
// how many of them were taken. Nothing enters a ring that is lost: its entries
// may name descriptors that are other files' by now.
func (e *Engine) submit(n uint32) (done uint32) {
	if n == 0 || e.lost.Load() != nil {
		return 0
	}
	e.enters.Add(1)
	done, err := e.k.submit(n)
	if err != nil {
		e.fatal(err)
	}
	return done
}

// fatal notes that enter has failed for good. The driver will break down, and if
// there is none, the tick makes the keeper drive.
func (e *Engine) fatal(err error) {
	e.failed.CompareAndSwap(nil, &err)
	e.unheard()
}

// unheard wakes a driver that is parked in Go's poller without the kernel's help,
// and sets a tick for when there is none. (One that is blocked in the kernel goes
// on to sleep: there is no other way to it than a completion.)
func (e *Engine) unheard() {
	e.keeper.ensureTick(soonTick)
	e.limited.Store(true)
	e.poller.limit(0)
}

// fillSends makes entries of all pending sends and returns how many are sure to
// complete during their submission. Connections whose send in flight is about to
// end stay on the list. mu is held.
func (e *Engine) fillSends() (prompt uint32) {
	later := e.dirty[:0]
	for i, c := range e.dirty {
		s := e.entry()
		if s == nil { // the kernel takes none now; the next flush goes on here
			later = append(later, e.dirty[i:]...)
			break
		}
		switch c.takeSend(s) {
		case sendPrompt:
			prompt++
			e.unclaimed++
			continue
		case sendTaken:
			e.unclaimed++
			continue
		case sendLater:
			later = append(later, c)
		}
		e.q.tail-- // not used
	}
	clear(e.dirty[len(later):])
	e.dirty = later
	e.nDirty.Store(int32(len(later)))
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
			kept := copy(e.resting, e.resting[i:])
			clear(e.resting[kept:])
			e.resting = e.resting[:kept]
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
	e.unclaimed += n
	if n > 0 && e.lost.Load() == nil {
		e.keeper.ensureTick(idleTick)
	}
}

// asideTries bounds how often a side submission finds only sends whose time has
// not come, before it leaves them to the driver.
const asideTries = 20

// submitAside submits sends for a caller that is not the driver, while the
// driver sleeps in the kernel and so cannot. It yields once before, so that
// callers behind it can add theirs; of those only one submits. A driver that is
// awake needs no help: it looks for sends after whatever it does now.
//
// One that comes while another is in its system call relies on it, which
// therefore looks for more when it is done.
func (e *Engine) submitAside() {
	for try := 0; try < asideTries && e.nDirty.Load() > 0 && e.inKernel.Load() && e.submitter.CompareAndSwap(false, true); try++ {
		e.crowded()
		runtime.Gosched()
		e.mu.Lock()
		n := uint32(0)
		if e.inKernel.Load() {
			e.fillSends()
			n = e.claim()
		}
		e.mu.Unlock()
		e.unclaim(n - e.submit(n))
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
		e.unheard()
		return
	}
	s.PrepOperation(uring.IORING_OP_NOP, -1, 0, 0, 0)
	e.unclaimed++
	n := e.claim()
	if left := n - e.submit(n); left > 0 {
		e.unclaimLocked(left)
		e.unheard()
	}
}
