package ring

import (
	"runtime"

	uring "github.com/iceber/iouring-go/syscall"
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
