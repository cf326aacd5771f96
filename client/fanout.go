package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/memring/memring/client/transport"
)

// fanout is one call of many requests, whose [job] says what they are: entries,
// each of which belongs to one server. Servers are served at the same time, each
// in a [lane] of its own. All requests signal one waiter, and since waiting drives
// I/O, replies are read while requests are still to be written.
type fanout struct {
	cl  *Client
	eng *engineSlot
	own transport.Waiter
	job job
	// hits, if not nil, takes values as they come, and reports whether the caller wants
	// more. What it was given counts as answered, and job.settled is not called.
	hits     func(list []Lease) (more bool)
	limit    time.Time     // when the call ends; zero: never
	patience time.Duration // for how long a server may bring nothing; 0: until limit
	lanes    []lane        // by server
	wires    []wireKey     // of the entries; empty: their keys are the servers'
	on       []transport.Conn
	buf      []Lease // empty; swapped with a request's hits

	ctx    context.Context // of those that prepare lanes; nil: there were none
	cancel context.CancelFunc
	mu     sync.Mutex // guards lane.prepared and what is below it
}

// job is what a fanout carries out. Entries are numbers from 0. It is called by the
// caller's goroutine alone.
type job interface {
	// key is the caller's key of an entry.
	key(entry int) string
	// ask makes o, which is fresh, the request for the first entries of a server: as
	// many as belong into one. It returns how many, or what is wrong with them.
	ask(f *fanout, o *op, entries []int) (n int, err error)
	// settled takes the answers of the first entries that have one, of a request that
	// will bring no more, and returns how many they are. It may be called with o's
	// lock held.
	settled(srv *server, o *op, entries []int) (n int)
	// fail says that entries will have no answer, and reports whether the caller wants
	// to hear of others. srv is nil if none was chosen.
	fail(srv *server, entries []int, err error, outcome Outcome) (more bool)
}

// fanout returns one for a call. It recycles itself at the end of its run.
func (cl *Client) fanout(j job) *fanout {
	f := cl.chooseEngine().fanouts.Get().(*fanout)
	f.cl, f.job = cl, j
	return f
}

// run carries out n entries. servers has each one's, if they were chosen before.
func (f *fanout) run(ctx context.Context, n int, servers []int) {
	f.own.Init()
	defer f.end()
	if !f.split(n, servers) {
		return
	}
	for i := range f.lanes {
		f.extend(&f.lanes[i])
		f.fill(ctx, &f.lanes[i])
	}
	for f.deliver(ctx, true) {
		deadline, active := f.outlook()
		if !active {
			return
		}
		if err := f.eng.Wait(&f.own, f.on, deadline, ctx.Done()); err != nil && !f.giveUp(ctx, err) {
			return
		}
		f.resume()
	}
}

// split puts the entries into lanes, by server.
func (f *fanout) split(n int, servers []int) (more bool) {
	if cap(f.lanes) < len(f.cl.servers) {
		f.lanes = make([]lane, len(f.cl.servers))
	}
	f.lanes = f.lanes[:len(f.cl.servers)]
	for i, srv := range f.cl.servers {
		f.lanes[i].srv, f.lanes[i].pool = srv, srv.pools[f.eng.i]
	}
	own := f.cl.keys != (keyspace{})
	for i := range n {
		w, err := f.cl.keys.wire(f.job.key(i))
		var srv *server
		switch {
		case err != nil:
		case servers != nil:
			srv = f.cl.servers[servers[i]]
		default:
			srv, err = f.cl.server(w.stored)
		}
		if own {
			f.wires = append(f.wires, w)
		}
		if err != nil {
			if !f.job.fail(nil, []int{i}, fmt.Errorf("key number %d: %w", i, err), NotSent) {
				return false
			}
			continue
		}
		l := &f.lanes[srv.index]
		l.todo = append(l.todo, i)
	}
	return true
}

// wire is what the server knows an entry's key as.
func (f *fanout) wire(entry int) wireKey {
	if len(f.wires) > 0 {
		return f.wires[entry]
	}
	k := f.job.key(entry)
	return wireKey{stored: k, text: k}
}

// outlook says what there is to wait for.
func (f *fanout) outlook() (deadline time.Time, active bool) {
	f.on = f.on[:0]
	deadline = f.limit
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.over() {
			continue
		}
		active = true
		if l.busy() {
			f.on = append(f.on, l.c.t)
		}
		if d := f.deadline(l); deadline.IsZero() || d.Before(deadline) {
			deadline = d
		}
	}
	return deadline, active
}

// deliver takes everything that has come, and sends more, if it is to. It reports
// whether the caller wants more.
func (f *fanout) deliver(ctx context.Context, send bool) bool {
	for i := range f.lanes {
		l := &f.lanes[i]
		for l.busy() {
			came, more := f.look(l)
			if !more {
				return false
			}
			if !came {
				break
			}
		}
		if l.moved {
			l.moved, l.tries = false, 0
			f.extend(l)
		}
		if send {
			f.fill(ctx, l)
		}
		if l.err != nil && !l.busy() {
			rest := l.rest()
			if len(rest) > 0 && !f.job.fail(l.srv, rest, l.err, NotSent) {
				return false
			}
		}
	}
	return true
}

// look takes what has come for a lane's oldest request. came says that it is over,
// so that there is the next one to look at.
func (f *fanout) look(l *lane) (came, more bool) {
	p := &l.flight[l.head]
	o := p.o
	var hits []Lease
	var refused []refusedKeys
	o.mu.Lock()
	if f.hits != nil {
		hits, o.run.hits, f.buf = o.run.hits, f.buf, nil
		refused = append(refused, o.run.refusals[p.refused:]...)
		p.taken, p.refused = o.run.settled, len(o.run.refusals)
	}
	done := o.state == opDone
	o.mu.Unlock()
	l.moved = l.moved || done && o.lost() == nil || len(hits) > 0
	entries := l.todo[p.from:p.to]
	if done { // before anything is yielded: the loop's body may leave
		refused = append(refused, f.conclude(l)...)
	}
	if !f.yield(hits) {
		return done, false
	}
	for _, r := range refused {
		if !f.job.fail(l.srv, entries[r.from:r.to], r.err, r.outcome) {
			return done, false
		}
	}
	return done, true
}

// conclude takes the oldest request of a lane out, which is done, and returns those of
// its entries that were neither answered nor refused.
func (f *fanout) conclude(l *lane) (unanswered []refusedKeys) {
	p := l.pop()
	o, n := p.o, p.to-p.from
	o.reclaim()
	defer o.put()
	lost := o.lost()
	if lost != nil && lost.outcome == NotSent && !f.cl.closed.Load() {
		l.giveBack(p)
		return nil
	}
	if f.hits == nil {
		p.taken = f.job.settled(l.srv, o, l.todo[p.from:p.to])
	}
	switch {
	case p.taken == n:
	case lost != nil:
		return []refusedKeys{{p.taken, n, lost.err, lost.outcome}}
	case o.err != nil: // a gets cut short
		return []refusedKeys{{p.taken, n, o.err, Answered}}
	}
	return nil
}

// yield gives hits to the job.
func (f *fanout) yield(hits []Lease) (more bool) {
	if len(hits) == 0 {
		if f.buf == nil {
			f.buf = hits
		}
		return true
	}
	more = f.hits(hits)
	clear(hits)
	f.buf = hits[:0]
	return more
}

// giveUp ends the call, or its part that concerns servers which bring nothing,
// because a wait has ended with err. It reports whether anything is left to do.
func (f *fanout) giveUp(ctx context.Context, err error) (more bool) {
	if !f.deliver(ctx, false) {
		return false
	}
	now := time.Now()
	all := !errors.Is(err, transport.ErrTimeout) || !f.limit.IsZero() && !now.Before(f.limit)
	told := false
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.over() || !all && now.Before(l.deadline) {
			continue
		}
		if !told {
			told, err = true, f.cl.waitError(ctx, err)
		}
		if !f.drop(l, err) {
			return false
		}
	}
	return !all
}

// drop gives up all that a lane has not been answered.
func (f *fanout) drop(l *lane, err error) (more bool) {
	unknown, notSent := l.abandon(f)
	if len(unknown) > 0 {
		l.pool.gaveUp(Unknown, err)
	}
	return (len(unknown) == 0 || f.job.fail(l.srv, unknown, err, Unknown)) &&
		(len(notSent) == 0 || f.job.fail(l.srv, notSent, err, NotSent))
}

// end gives up whatever is outstanding, and recycles f unless a goroutine may still
// signal it.
func (f *fanout) end() {
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.busy() {
			l.abandon(f)
		}
	}
	if f.cancel != nil {
		f.cancel()
		return
	}
	for i := range f.lanes {
		f.lanes[i].reset()
	}
	f.job, f.wires, f.hits, f.buf = nil, kept(f.wires), nil, kept(f.buf)
	f.own.Take()
	clear(f.on)
	f.cl, f.limit, f.patience = nil, time.Time{}, 0
	f.eng.fanouts.Put(f)
}

// keptEntries is for how many entries a fanout keeps room, for others.
const keptEntries = 1024

// kept is an empty list with l's room, if that is worth it.
func kept[T any](l []T) []T {
	if cap(l) > keptEntries {
		return nil
	}
	clear(l)
	return l[:0]
}
