package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/memring/memring/client/transport"
)

// maxGetsLine bounds the bytes of keys in one gets line. The server takes lines
// of any length for get and gets, but must hold one whole before it answers.
const maxGetsLine = 32 << 10

// GetMulti asks for many keys at once and yields the items that there are, as
// they come, in no particular order; keys without an item are passed over. All
// servers are asked at the same time, each connection with one request, and the
// whole call has one deadline.
//
// An error is yielded with an empty Item and concerns some of the keys only:
// [OpError].Keys has them, and OpError.Server the server that failed; the
// others go on. Breaking out of the loop ends the call; replies that are still
// on their way are thrown away. A key given twice may be yielded twice.
func (cl *Client) GetMulti(ctx context.Context, keys []string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		cl.getMulti(ctx, keys, false, func(l Lease, err error) bool { return yield(l.Item, err) })
	}
}

// getMulti is one multi-get. Without leases the Leases are only what Items come in.
func (cl *Client) getMulti(ctx context.Context, keys []string, leases bool, yield func(Lease, error) bool) {
	if err := cl.usable(ctx); err != nil {
		yield(Lease{}, &OpError{Op: verbGets.String(), Outcome: NotSent, Err: err, Keys: keys})
		return
	}
	m := cl.chooseEngine().multis.Get().(*multi)
	m.leases = leases
	m.run(cl, ctx, keys, yield)
}

// multi is one multi-get. Its ops, one for each part, all signal its one waiter.
type multi struct {
	cl       *Client
	eng      *engineSlot
	own      transport.Waiter
	deadline time.Time
	servers  []int   // each key's, if they were chosen before: see getMultiDirect
	parts    []*part // those that are not complete
	on       []transport.Conn
	buf      []Lease // empty; swapped with a part's hits
	leases   bool

	mu        sync.Mutex
	connected []*part // their goroutine has ended, and nobody has looked yet
	cold      bool    // there was such a goroutine
}

// part is what one request asks one server for.
type part struct {
	srv   *server
	keys  []string // as the caller knows them
	wire  []string // as the server does; nil: the same
	o     *op      // nil: not on a connection yet
	err   error    // why it will never be
	tries int
	taken int // keys from here on have not been answered, as far as was yielded
}

// run is the whole call.
func (m *multi) run(cl *Client, ctx context.Context, keys []string, yield func(Lease, error) bool) {
	m.cl = cl
	m.own.Init()
	m.deadline = cl.deadline(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the goroutines that connect
	defer m.end()
	for _, err := range m.split(keys) {
		if !yield(Lease{}, err) {
			return
		}
	}
	for _, p := range m.parts {
		m.start(ctx, p)
	}
	for {
		if !m.deliver(yield) || len(m.parts) == 0 {
			return
		}
		m.on = m.on[:0]
		for _, p := range m.parts {
			if p.o != nil {
				m.on = append(m.on, p.o.on[0])
			}
		}
		if err := m.eng.Wait(&m.own, m.on, m.deadline, ctx.Done()); err != nil {
			m.giveUp(ctx, err, yield)
			return
		}
		m.restart(ctx)
	}
}

// split makes parts of the keys, by server, and returns the errors of those
// that cannot be asked for. The keys are copied: a late reply is checked
// against them when the caller may have changed its slice.
func (m *multi) split(keys []string) (errs []error) {
	n := len(m.cl.servers)
	last := make([]*part, n) // of each server
	size := make([]int, n)   // of its gets line
	own := m.cl.keys != (keyspace{})
	for i, k := range keys {
		w, err := m.cl.keys.wire(k)
		var srv *server
		switch {
		case err != nil:
		case w.base64:
			err = fmt.Errorf("%w: the classic gets cannot carry binary keys", ErrKey)
		default:
			srv, err = m.server(i, w.stored)
		}
		if err != nil {
			errs = append(errs, &OpError{
				Op: verbGets.String(), Outcome: NotSent, Keys: keys[i : i+1 : i+1],
				Err: fmt.Errorf("key number %d: %w", i, err),
			})
			continue
		}
		s := srv.index
		if last[s] == nil || size[s]+len(w.text) > maxGetsLine {
			last[s], size[s] = &part{srv: srv, keys: make([]string, 0, min(len(keys)-i, 8+len(keys)/n, 8+maxGetsLine/(len(k)+1)))}, 0
			m.parts = append(m.parts, last[s])
		}
		last[s].keys = append(last[s].keys, k)
		if own {
			last[s].wire = append(last[s].wire, w.text)
		}
		size[s] += len(w.text) + 1
	}
	return errs
}

// server returns the server of key number i.
func (m *multi) server(i int, key string) (*server, error) {
	if m.servers != nil {
		return m.cl.servers[m.servers[i]], nil
	}
	return m.cl.server(key)
}

// start sends a part's request. If the server must be connected to first, a
// goroutine does that, so that the other servers need not wait.
func (m *multi) start(ctx context.Context, p *part) {
	pool := p.srv.pools[m.eng.i]
	if c, full := pool.pick(); c != nil {
		if full && pool.hasRoom() {
			_, _ = pool.startDial()
		}
		o := m.eng.ops.Get().(*op)
		o.begin(verbGets, "")
		o.w, o.keys, o.names, o.leases = &m.own, p.wire, p.keys, m.leases
		if o.keys == nil {
			o.keys = p.keys
		}
		err := c.push(o)
		if err == nil {
			p.o = o
			return
		}
		o.put()
		if !errors.Is(err, errConnDown) {
			p.err = err
			return
		}
	}
	if p.tries++; p.tries > pool.maxTries() {
		p.err = m.cl.lostError()
		return
	}
	m.cold = true
	ok := m.cl.spawn(func() {
		_, err := pool.get(ctx, m.deadline)
		m.mu.Lock()
		p.err = err
		m.connected = append(m.connected, p)
		m.mu.Unlock()
		m.eng.Wake(&m.own)
	})
	if !ok {
		p.err = ErrClosed
	}
}

// restart sends the requests of parts whose server has been connected to.
func (m *multi) restart(ctx context.Context) {
	if !m.cold {
		return
	}
	m.mu.Lock()
	parts := m.connected
	m.connected = nil
	m.mu.Unlock()
	for _, p := range parts {
		if p.err == nil {
			m.start(ctx, p)
		}
	}
}

// deliver yields everything that has come and drops the parts that are
// complete. It reports whether the caller wants more.
func (m *multi) deliver(yield func(Lease, error) bool) bool {
	for i := 0; i < len(m.parts); {
		p := m.parts[i]
		done, hits, err := m.collect(p)
		if done { // before anything is yielded: the loop's body may leave
			m.parts = append(m.parts[:i], m.parts[i+1:]...)
		} else {
			i++
		}
		for i := range hits {
			if !yield(hits[i], nil) {
				giveBack(hits[i+1:]) // those up to it are the caller's
				return false
			}
		}
		clear(hits)
		m.buf = hits[:0]
		if err != nil && !yield(Lease{}, err) {
			return false
		}
	}
	return true
}

// collect takes what has come for one part. If the part is complete, it has no
// op any more.
func (m *multi) collect(p *part) (done bool, hits []Lease, err error) {
	o := p.o
	if o == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if p.err == nil {
			return false, m.buf, nil
		}
		return true, m.buf, partError(p, p.keys, p.err, NotSent)
	}
	o.mu.Lock()
	hits, o.hits = o.hits, m.buf
	p.taken = o.keyNext
	done = o.state == opDone
	o.mu.Unlock()
	if !done {
		return false, hits, nil
	}
	var lost *connError
	if errors.As(o.err, &lost) {
		err = partError(p, p.keys[o.keyNext:], lost.err, lost.outcome)
	} else if o.err != nil {
		err = partError(p, p.keys[o.keyNext:], o.err, Answered)
	}
	p.o = nil
	o.put()
	return true, hits, err
}

func partError(p *part, keys []string, err error, outcome Outcome) error {
	return &OpError{Op: verbGets.String(), Server: p.srv.name, Err: err, Outcome: outcome, Keys: keys}
}

// giveUp ends the call because of its deadline or context, with what has come
// by now and one error for each part that is not complete.
func (m *multi) giveUp(ctx context.Context, err error, yield func(Lease, error) bool) {
	if !m.deliver(yield) {
		return
	}
	err = m.cl.waitError(ctx, err)
	for len(m.parts) > 0 {
		p := m.parts[0]
		m.parts = m.parts[1:]
		keys, outcome := m.drop(p)
		if len(keys) == 0 {
			continue // all were answered, only the end was missing
		}
		p.srv.pools[m.eng.i].gaveUp(outcome, err)
		if !yield(Lease{}, partError(p, keys, err, outcome)) {
			return
		}
	}
}

// drop gives a part's request up and returns the keys that were not answered
// when it was last looked at: what has come since was yielded to nobody.
func (m *multi) drop(p *part) ([]string, Outcome) {
	o := p.o
	p.o = nil
	if o == nil {
		return p.keys, NotSent
	}
	if o.c.retract(o) {
		return p.keys, NotSent
	}
	if !o.abandon() {
		o.put() // complete in the meantime, and so ours
	}
	return p.keys[p.taken:], Unknown
}

// end gives up whatever is outstanding, and recycles m unless a goroutine may
// still signal it.
func (m *multi) end() {
	for _, p := range m.parts {
		m.drop(p)
	}
	if m.cold {
		return
	}
	m.own.Take()
	clear(m.parts)
	clear(m.on)
	m.parts, m.on, m.cl, m.servers = m.parts[:0], m.on[:0], nil, nil
	m.eng.multis.Put(m)
}
