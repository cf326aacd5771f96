package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/internal/direct"
	"github.com/memring/memring/client/transport"
)

const (
	// spillLoad is the number of outstanding requests from which a connection
	// counts as busy, so that another one is opened. Sharing one connection is
	// what makes requests travel in batches; a second one lets a server with
	// several threads use two of them.
	spillLoad = 64

	backoffMin = 10 * time.Millisecond
	backoffMax = 2 * time.Second
)

// server is one server of the client.
type server struct {
	cl            *Client
	index         int    // in Client.servers
	name          string // as given to New
	network, addr string
	pools         []*pool         // one for each engine
	misses        [verbs]*OpError // prepared, because a miss is no rare event
	unchanged     *OpError        // likewise, for GetOptions.UnlessCAS
	counters      serverCounters
}

// pool is the connections of one engine to one server.
type pool struct {
	srv *server
	eng *engineSlot

	slots []atomic.Pointer[conn] // dialled lazily, in order
	usual int                    // so many; those behind are spare

	troubleEnds atomic.Int64 // in transport.Nanos; 0: there is none

	mu      sync.Mutex
	dialing *dial     // the attempt under way
	failed  int       // attempts that failed in a row
	lastErr error     // the last one's; never nil once retryAt is set
	retryAt time.Time // no attempt before
}

// dial is one attempt to connect, which any number of callers wait for.
type dial struct {
	done chan struct{} // closed when it has ended
	err  error
}

// pick returns the connection for the next request, or nil if there is none; more
// tells that another connection would help.
func (p *pool) pick() (best *conn, more bool) {
	if p.troubled() {
		return p.pickSpread()
	}
	return p.pickFirst()
}

// pickFirst prefers a connection without debt, then the first in order that is not
// busy, so that few callers share one connection and batch. Spare connections are
// for when the others have debt.
func (p *pool) pickFirst() (best *conn, more bool) {
	more = true
	bestCost := int32(0)
	for i := range p.slots {
		if i >= p.usual && best != nil && bestCost < inDebt {
			return best, more
		}
		c := p.slots[i].Load()
		if c == nil || c.down.Load() {
			continue
		}
		cost := c.cost()
		if cost < spillLoad {
			return c, false
		}
		if best == nil || cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best, more
}

// pickAside is pick for a batch of more than a window. It leaves the first connection
// to lone requests, which prefer it, so that they don't queue behind the batch: of
// the other usual ones it takes that with the least outstanding.
func (p *pool) pickAside() (best *conn, more bool) {
	if p.troubled() {
		return p.pickSpread()
	}
	bestCost := int32(inDebt)
	for i := 1; i < p.usual; i++ {
		if c := p.slots[i].Load(); c != nil && !c.down.Load() && c.cost() < bestCost {
			best, bestCost = c, c.cost()
		}
	}
	if best == nil {
		best, _ = p.pickFirst()
	}
	return best, bestCost == inDebt
}

// wantAside dials the connection that pickAside would like to return, if need be.
func (p *pool) wantAside() {
	if _, more := p.pickAside(); more && p.hasRoom() {
		_, _ = p.startDial()
	}
}

// better reports whether a batch that uses c had better go on with another one.
func (p *pool) better(c *conn) bool {
	if c != p.slots[0].Load() || p.troubled() {
		return false
	}
	other, _ := p.pickAside()
	return other != nil && other != c
}

// inDebt is the cost of a connection in debt, above all loads.
const inDebt = 1 << 24

// cost orders connections: by debt, then by what is outstanding.
func (c *conn) cost() int32 {
	load := c.load.Load()
	if c.debt.replies.Load() > 0 {
		return min(load, inDebt) + inDebt
	}
	return load
}

// troubleTime is for how long a server counts as in trouble after a call to it
// has timed out.
const troubleTime = time.Second

// gaveUp notes that a call has ended with err and without its reply. One that was
// cancelled, or needed no more of a GetMulti, says nothing of the server.
func (p *pool) gaveUp(outcome Outcome, err error) {
	if outcome == Unknown && errors.Is(err, ErrTimeout) {
		p.trouble()
	}
}

// trouble notes that a call has timed out.
func (p *pool) trouble() { p.troubleEnds.Store(transport.Now() + int64(troubleTime)) }

// troubled reports whether that was of late.
func (p *pool) troubled() bool {
	end := p.troubleEnds.Load()
	if end == 0 {
		return false
	}
	if transport.Now() < end {
		return true
	}
	p.troubleEnds.CompareAndSwap(end, 0)
	return false
}

// pickSpread spreads requests over as many connections as there may be: replies on
// one come in order, so whoever waits behind a late one is late as well. It takes
// the connection with the least outstanding, of those without debt.
func (p *pool) pickSpread() (best *conn, more bool) {
	bestCost := int32(0)
	for i := range p.slots {
		c := p.slots[i].Load()
		if c == nil || c.down.Load() {
			continue
		}
		cost := c.cost()
		if cost == 0 {
			return c, false
		}
		if best == nil || cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best, true
}

// get returns a connection, dialling if there is none. It gives up at the
// deadline or when ctx is done; nothing has been sent then.
func (p *pool) get(ctx context.Context, deadline time.Time) (*conn, error) {
	c, more := p.pick()
	if c != nil {
		if more && p.hasRoom() {
			_, _ = p.startDial() // for those who come later
		}
		return c, nil
	}
	for {
		d, err := p.startDial()
		if err != nil {
			return nil, err
		}
		if err := d.wait(ctx, deadline); err != nil {
			return nil, err
		}
		if c, _ := p.pick(); c != nil {
			return c, nil
		}
		if d.err != nil {
			return nil, d.err
		}
		// Connected and lost again before we looked: the next attempt obeys
		// the backoff.
	}
}

func (d *dial) wait(ctx context.Context, deadline time.Time) error {
	var late <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		late = t.C
	}
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	case <-late:
		return ErrTimeout
	}
}

// hasRoom reports whether a slot is free for another connection: spare ones are for
// when the server is in trouble.
func (p *pool) hasRoom() bool {
	n := p.usual
	if p.troubled() {
		n = len(p.slots)
	}
	for i := range p.slots[:n] {
		if c := p.slots[i].Load(); c == nil || c.down.Load() {
			return true
		}
	}
	return false
}

// closedChan is the done of a dial that need not be made.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// startDial joins the attempt under way or starts one. While the server is
// known to be down it fails at once with the last attempt's error.
func (p *pool) startDial() (*dial, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.srv.cl.closed.Load():
		return nil, ErrClosed
	case p.dialing != nil:
		return p.dialing, nil
	case !p.hasRoom(): // somebody else's dial has filled it
		return &dial{done: closedChan}, nil
	case time.Now().Before(p.retryAt):
		return nil, p.lastErr
	}
	d := &dial{done: make(chan struct{})}
	if !p.srv.cl.spawn(func() { p.connect(d) }) {
		return nil, ErrClosed
	}
	p.dialing = d
	return d, nil
}

// connect makes one attempt.
func (p *pool) connect(d *dial) {
	cl := p.srv.cl
	ctx := cl.ctx
	if t := cl.cfg.DialTimeout; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	c, err := p.open(ctx)

	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(d.done)
	p.dialing = nil
	if err == nil {
		if !p.place(c) { // others came back to life meanwhile
			_ = c.t.Close()
		}
		p.srv.counters.dials.Add(1)
		return
	}
	p.srv.counters.failedDials.Add(1)
	if d.err = cl.dialError(ctx, err); errors.Is(d.err, errTooLate) {
		d.err = &direct.NoConnection{Err: d.err}
	}
	if !errors.Is(d.err, ErrClosed) {
		p.penalize(d.err)
	}
}

// open makes a connection that can carry requests.
func (p *pool) open(ctx context.Context) (*conn, error) {
	cl := p.srv.cl
	c := &conn{p: p}
	if !cl.greets() {
		t, err := p.eng.Dial(ctx, p.srv.network, p.srv.addr, c)
		c.t = t
		return c, err
	}
	n := &newcomer{c: c}
	n.w.Init()
	t, err := p.eng.Dial(ctx, p.srv.network, p.srv.addr, n)
	if err != nil {
		return nil, err
	}
	c.t = t
	open, err := cl.greet(ctx, p.srv, func(request []byte) (string, error) { return n.ask(ctx, request) })
	if err == nil {
		err = n.admit()
	}
	switch {
	case err != nil:
		_ = t.Close()
	case open:
		p.srv.counters.unauthenticated.Add(1)
	}
	return c, err
}

// place puts a new connection into the first free slot. mu is held.
func (p *pool) place(c *conn) bool {
	for i := range p.slots {
		if old := p.slots[i].Load(); old == nil || old.down.Load() {
			p.slots[i].Store(c)
			return true
		}
	}
	return false
}

// penalize delays the next attempt: twice as long after each failure, with
// jitter so that many clients do not come back in step. mu is held.
func (p *pool) penalize(err error) {
	p.failed++
	wait := backoffMax
	if n := p.failed - 1; n < 16 {
		wait = min(backoffMin<<n, backoffMax)
	}
	wait = wait/2 + rand.N(wait/2+1)
	p.lastErr = err
	p.retryAt = time.Now().Add(wait)
}

// lost notes that a connection has ended. One that had brought replies is
// replaced at once; one that brought none counts as a failed attempt.
func (p *pool) lost(c *conn, why closeCause, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.slots {
		p.slots[i].CompareAndSwap(c, nil)
	}
	p.srv.counters.closed[why].Add(1)
	if c.answered {
		p.failed = 0
		p.retryAt = time.Time{}
		return
	}
	if why != closedClose {
		p.penalize(fmt.Errorf("%w: connection lost before any reply: %w", ErrUnavailable, err))
	}
}
