package client

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/reader"
)

// op is one request, from its encoding to its reply, and one place in its
// connection's FIFO.
//
// Once pushed, an op leaves the FIFO only by its reply or by the connection's
// death. If its caller gives up before, the op stays where it is as a
// tombstone: the reply is consumed and thrown away, and only then is the op
// used again. So there are two parties: the caller, and whoever drives the
// connection. mu decides between them:
//
//   - The driver holds mu from the first byte of the reply in a window until it
//     is done with that window, and touches the caller's memory (dst) only
//     then, and only if the op is not abandoned.
//   - The caller that gives up takes mu: it finds the op done, and has its
//     result after all, or abandons it, and from then on nobody touches its dst.
//   - Between two windows the rest of a large value may land in dst, which is the
//     kernel's then although nobody holds mu. Landing says so. A caller that gives
//     up has the landing ended first, and waits until it is.
//
// Done is the driver's last touch if the caller has not given up, abandon is
// the caller's last if it has: the other party recycles the op.
type op struct {
	request
	own  transport.Waiter  // the caller's, if it waits for this op alone
	loan transport.Loan    // of value, to the engine
	w    *transport.Waiter // signalled when there is something new
	eng  *engineSlot
	on   [1]transport.Conn

	c      *conn
	size   int // bytes on the wire
	expect reader.Expect

	mu      sync.Mutex
	held    bool // the driver holds mu; the driver's
	state   opState
	landing bool          // the kernel may write to dst behind its length
	leaving bool          // the caller waits for the end of that
	void    atomic.Uint32 // a voidState

	// The result, of which extras and run have parts: the driver's while it holds mu,
	// the caller's once done.
	status  reader.Status
	valued  bool // the reply has a value
	leases  bool // values are to be lent; the caller's, set before push
	err     error
	found   found
	dst     []byte // where a value is appended; nil: a fresh slice, or a block if leases
	block   *block // that dst is of, if it is lent
	want    int    // bytes of the value that are still to come
	drained int    // bytes of values that came for nobody; the driver's
}

// voidState says whether an op was retracted: never sent, so that no reply is
// coming. Since retracting lets the requests behind it go out, and be answered,
// before the outcome is written down here, that it is being decided is said first.
type voidState = uint32

const (
	notVoid voidState = iota
	voiding           // under conn.mu, which the driver takes to wait for the outcome
	voided
)

type opState uint8

const (
	opPending opState = iota
	opDone
	opAbandoned
)

var _ reader.Slot = (*op)(nil)

// begin makes an op that is new, or was scrubbed, ready for a request.
func (o *op) begin(v verb, key string) {
	o.verb, o.key = v, key
	o.wire.stored, o.wire.text = key, key
	o.own.Init()
	o.w = &o.own
}

// scrub makes the op as good as new, so that a pooled one keeps no caller's memory
// alive. The engine stays: its waiter must not meet another.
func (o *op) scrub() {
	o.giveBack() // what a call had borrowed that failed
	if o.run != nil {
		o.run.put()
	}
	if o.extras != nil {
		o.extras.put()
	}
	o.forgetExpect()
	o.request = request{}
	o.c, o.on[0], o.w = nil, nil, nil
	o.state, o.landing, o.leaving = opPending, false, false
	o.void.Store(notVoid)
	o.status, o.valued, o.leases, o.err = 0, false, false, nil
	o.found = found{}
	o.dst, o.drained = nil, 0
}

// claim makes the driver the owner of the result until release.
func (o *op) claim() (wanted bool) {
	if !o.held {
		o.mu.Lock()
		o.held = true
	}
	return o.state == opPending
}

// release ends a claim at the end of a window.
func (o *op) release() {
	if o.held {
		if o.state == opPending && o.run != nil && len(o.run.hits) > 0 {
			o.w.Signal() // a GetMulti takes them as they come
		}
		o.held = false
		o.mu.Unlock()
	}
}

// Expect describes the reply to the parser.
func (o *op) Expect() *reader.Expect { return &o.expect }

// Value prepares the place for a value.
func (o *op) Value(it *reader.Item) {
	wanted := o.claim()
	if o.extras != nil && o.extras.loads { // of interest to a tombstone, too
		o.found, o.extras.size = foundIn(it), it.Size
	}
	if !wanted {
		return
	}
	if o.run != nil {
		o.commit()
		o.run.settle(it.Index)
		o.run.hit = it.Index
	}
	o.note(it)
	o.valued = true
	o.want = it.Size
	if o.want == 0 {
		o.take(nil)
	}
}

// Chunk copies a part of a value out of the receive buffer: the only copy.
func (o *op) Chunk(p []byte) {
	if o.claim() {
		o.take(p)
	} else {
		o.drained += len(p)
	}
}

// take appends a part of the value to dst. A fresh slice for a value that comes in
// one part is made by append, which does not zero what it is about to fill.
func (o *op) take(p []byte) {
	if o.dst == nil && o.want == len(p) && len(p) > 0 && !o.leases {
		o.dst = slices.Clip(append([]byte(nil), p...))
		o.want = 0
		return
	}
	o.room()
	o.dst = append(o.dst, p...)
	o.want -= len(p)
}

// room makes dst exactly as large as needed for all that is still to come, if it
// is smaller. A block is large enough from its beginning.
func (o *op) room() {
	if o.leases && o.dst == nil {
		o.borrow()
		return
	}
	if need := len(o.dst) + o.want; cap(o.dst) < need || o.dst == nil {
		grown := make([]byte, len(o.dst), need)
		copy(grown, o.dst)
		o.dst = grown
	}
}

// land offers the place where the rest of the value belongs, so that it is
// received there and not copied. Nil if nobody wants the value any more.
func (o *op) land() []byte {
	if !o.claim() || o.leaving {
		return nil
	}
	o.room()
	o.landing = true
	return o.dst[len(o.dst) : len(o.dst)+o.want]
}

// landed takes in n bytes that have come there, and offers the rest.
func (o *op) landed(n int) []byte {
	o.claim()
	o.dst = o.dst[:len(o.dst)+n]
	o.want -= n
	if o.want > 0 && !o.leaving {
		return o.dst[len(o.dst) : len(o.dst)+o.want]
	}
	o.endLanding()
	return nil
}

// endLanding has the driver's word that the kernel is done with dst. mu is held.
func (o *op) endLanding() {
	if o.landing && o.leaving {
		o.w.Signal()
	}
	o.landing = false
}

// commit moves the value that has come to the hits. That is done only once the
// parser goes on behind it: until it has seen the line end there, the value may
// be cut.
func (o *op) commit() {
	if o.dst == nil {
		return
	}
	o.run.hits = append(o.run.hits, o.handOver())
	o.run.settled = o.run.hit + 1
}

// Answer takes the reply to one of a run's requests. A tombstone does, too, see
// Config.LateWrite: the run is the op's own.
func (o *op) Answer(i int, r *reader.Result) {
	if o.claim() {
		o.commit()
	}
	o.run.answer(i, r)
}

// Stat takes one line of statistics.
func (o *op) Stat(name, value []byte) {
	if !o.claim() {
		return
	}
	x := o.extra()
	if x.stats == nil {
		x.stats = make(map[string]string)
	}
	x.stats[string(name)] = string(value)
}

// Done takes the end of the reply.
func (o *op) Done(r *reader.Result) {
	// A tombstone's result is of interest too, see Config.LateWrite.
	if wanted := o.claim(); o.run != nil {
		if wanted {
			o.commit()
		}
		if r.Status == reader.OK {
			o.run.end()
		}
	} else if wanted && !o.valued {
		o.note(&r.Item)
	}
	o.status = r.Status
	switch {
	case r.Status == reader.Failed:
		o.err = failure(r.Line)
	case o.expect.Kind == reader.Line, o.expect.Kind == reader.Debug:
		o.extra().line = string(r.Line)
	}
	o.conclude(true)
}

// fail ends the op because its connection has.
func (o *op) fail(err error) {
	o.claim()
	o.endLanding()
	o.err = err
	o.conclude(false)
}

// conclude passes a claimed op on to the party that outlives the other.
func (o *op) conclude(answered bool) {
	o.c.answered = o.c.answered || answered
	o.held = false
	if o.state == opAbandoned {
		if answered {
			o.c.paid(o.drained)
			o.returnClaim()
		}
		o.reportLate(o.c)
		o.mu.Unlock()
		o.eng.recycle(o)
		return
	}
	o.state = opDone
	// Under mu, so that a caller that finds the op done when it gives up also
	// finds the signal, and can take it.
	o.w.Signal()
	o.mu.Unlock()
}

// reclaim waits until the engine is done with value, which is the caller's. It comes
// after the reply, when that is a formality but for a server that has answered
// before it has read all, or before the op is given up.
func (o *op) reclaim() {
	if o.loan.Over() {
		return
	}
	for !o.c.t.Reclaim(&o.loan, &o.own) {
		// No deadline: see abandon.
		_ = o.eng.Wait(&o.own, o.on[:1], time.Time{}, nil)
	}
	o.own.Take() // the end of the loan may have been seen before it was signalled
}

// abandon gives the op up. It fails if the reply has come in the meantime: then
// the op is the caller's, with its result. Otherwise it calls last, if it is not
// nil, for a last look at what has come; it must not block.
func (o *op) abandon(last func(*op)) bool {
	o.mu.Lock()
	for o.landing {
		o.leaving = true
		o.mu.Unlock()
		o.c.t.Divert()
		// No deadline: cancelling a receive takes microseconds, and dst cannot be
		// given back before. An error would come with the connection's end, which
		// ends the landing as well.
		_ = o.eng.Wait(o.w, o.on[:1], time.Time{}, nil)
		o.mu.Lock()
	}
	if o.state == opDone {
		o.mu.Unlock()
		return false
	}
	if o.run != nil {
		o.run.told = o.run.settled
	}
	if last != nil {
		last(o)
	}
	o.state = opAbandoned
	// Nobody writes to dst any more, so a block can be for others now.
	o.giveBack()
	o.dst, o.value = nil, nil // both are the caller's again
	c := o.c
	o.mu.Unlock() // o is the driver's from here on
	c.owes()
	return true
}
