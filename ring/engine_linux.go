package ring

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// Engine is one io_uring and the connections on it. Make it with [New].
type Engine struct {
	// Who may touch what:
	//   - mu guards the submission queue, the list of connections that have bytes
	//     to send, and the slots. It is never held across a system call that waits.
	//   - The driver's role (driving) covers the completion queue, the connections'
	//     receive side and every Handler call. There is one driver or none.
	//
	// The liveness invariant, for waiters: whoever sleeps, somebody drives. A driver
	// hands its role to a sleeper when it leaves, if there is one, and looks for
	// sleepers once more after it has given the role up; a waiter looks whether
	// somebody drives after it has announced that it goes to sleep, and if not,
	// drives. So one of the two sees the other.
	//
	// And for the ring itself: somebody drives, or the keeper watches it with the
	// eventfd armed, or a tick is set, after which the keeper does. Whoever leaves
	// arms the eventfd before, and looks at the completion queue after, it has given
	// the role up, because what completed before the arming rang nothing.

	k         kernel
	q         *queue
	pollFirst bool // the kernel knows IORING_RECVSEND_POLL_FIRST

	// The kernel tells how far a receive has come that is cancelled, so that it
	// may be let run until it is full.
	keepsCount bool

	mu        sync.Mutex
	slots     slotTable
	arena     arena
	dirty     []*conn // have bytes to send
	closing   []*conn // Close was called, to be taken notice of by the driver
	recalling []*conn // and Divert or Reclaim
	holding   []*conn // have send buffers, but for those that the keeper sweeps just now
	unclaimed uint32  // filled entries that no enter has been asked to submit
	closed    bool

	inKernel     atomic.Bool // the driver waits, or is about to; set under mu
	anyClosing   atomic.Bool
	anyRecalling atomic.Bool
	failed       atomic.Pointer[error] // enter has failed for good, for the driver to see
	lost         atomic.Pointer[error] // and it has: see breakDown

	driving    atomic.Bool
	buried     int           // driver's: connections that have ended
	reaped     int           // driver's: completions of all kinds
	nops       int           // driver's: NOPs among them, see nudge
	pauses     int           // driver's: times that the kernel has refused, see drive
	resting    []*conn       // driver's: receives to arm with the next enter
	canceling  []*conn       // driver's: with operations to cancel with it
	turns      atomic.Uint64 // how often a driver has begun to wait
	cancelable atomic.Bool   // the driver's wait ends with a context
	roused     atomic.Bool   // the keeper has woken the driver because it waits for long
	pace       atomic.Int32  // a pace: how long waits are
	single     atomic.Bool   // GOMAXPROCS is 1, as of the last tick
	submitter  atomic.Bool   // a caller is about to submit while the driver sleeps
	nDirty     atomic.Int32
	crowd      atomic.Int32 // > 0: several callers share the ring, see gather

	herd    transport.Herd
	keeper  keeper
	poller  pollWait    // where a driver waits on a slow ring
	limited atomic.Bool // poller's wait was ended by unheard

	drained   chan struct{} // closed when closed and the last connection is gone
	closeOnce sync.Once
	ringFD    int
	ending    atomic.Bool // all connections are gone, and no others will come
	dead      atomic.Bool // and Close has taken the driver's role

	enters, handovers, bytesIn, bytesOut atomic.Uint64
}

var _ transport.Engine = (*Engine)(nil)

// New sets up a ring. Its error says why io_uring cannot be had here and what
// to do about it.
func New() (*Engine, error) {
	k, q, err := openRing()
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	e := &Engine{k: k, q: q, ringFD: k.fd, drained: make(chan struct{})}
	e.arena.ringFD = k.fd
	if err = e.arena.openTable(); err == nil {
		_, _, err = e.arena.buffer(0) // finds out now whether registering works
	}
	// Sparse tables and the flag came with the same release, 5.19.
	e.pollFirst = e.arena.table
	e.keepsCount = k.knows(opSendmsgZC)
	e.single.Store(runtime.GOMAXPROCS(0) == 1)
	if err == nil {
		err = e.startKeeper()
	}
	if err != nil {
		e.arena.unmap()
		q.unmap()
		_ = unix.Close(k.fd)
		return nil, fmt.Errorf("ring: %w", err)
	}
	return e, nil
}

// Degraded says why receive buffers are not registered, if they are not.
// Everything works all the same.
func (e *Engine) Degraded() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.arena.refused
}

// Counters returns the engine's totals.
func (e *Engine) Counters() transport.Counters {
	e.mu.Lock()
	conns := e.slots.used
	e.mu.Unlock()
	return transport.Counters{
		Enters: e.enters.Load(), Handovers: e.handovers.Load(),
		BytesIn: e.bytesIn.Load(), BytesOut: e.bytesOut.Load(),
		Conns: int64(conns),
	}
}

// Close closes every connection, waits until the kernel has let go of each and
// gives the ring back.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.mu.Lock()
		e.closed = true
		if e.slots.used == 0 {
			close(e.drained)
		}
		e.mu.Unlock()
		for _, c := range e.conns() {
			_ = c.Close()
		}
		<-e.drained
		// What is left are callers that wait for nothing. The one that drives is
		// told; with its role, which is never given back, nobody else takes from
		// the completion queue, and with the submitter's nobody submits.
		e.ending.Store(true)
		for !e.driving.CompareAndSwap(false, true) {
			e.nudge()
			time.Sleep(100 * time.Microsecond)
		}
		e.dead.Store(true)
		for e.herd.Promote() { // wakes each of those that sleep
		}
		for !e.submitter.CompareAndSwap(false, true) {
			time.Sleep(100 * time.Microsecond)
		}
		e.keeper.stop()
		e.poller.close()
		e.mu.Lock()
		defer e.mu.Unlock()
		// The kernel tears a ring down some time after its descriptor is closed;
		// this gives the pinned memory back now.
		e.arena.unregister()
		_ = unix.Close(e.ringFD)
		e.q.unmap()
		if e.lost.Load() == nil {
			e.arena.unmap()
		}
	})
	return nil
}

// breakDown ends every connection after enter has failed for good. What the
// kernel still holds is unknown from here on, so no completion is waited for
// and no receive buffer is used again or unmapped: lost memory is harmless,
// memory that the kernel writes to after we have given it away is not.
func (e *Engine) breakDown(err error) {
	err = fmt.Errorf("ring: io_uring_enter: %w", err)
	if !e.lost.CompareAndSwap(nil, &err) {
		return
	}
	// Whoever has not seen that is on its way into the kernel with entries that
	// name our descriptors: it must be through before those are closed, and their
	// numbers become other files'. It holds submitter, or mu.
	for !e.submitter.CompareAndSwap(false, true) {
		time.Sleep(refusedPause)
	}
	e.mu.Lock()
	e.mu.Unlock() //nolint:staticcheck // an empty section: to have been in it is the point
	e.submitter.Store(false)
	e.k.cancelAll() // before callers get back the memory that values land in
	for _, c := range e.conns() {
		e.fail(c, err)
	}
}

func (e *Engine) conns() (all []*conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slots.each(func(c *conn) { all = append(all, c) })
	return all
}
