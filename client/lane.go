package client

import (
	"context"
	"errors"
	"slices"
	"time"
)

// lane is the requests of a [fanout] to one server.
//
// They go over one connection in the order of their entries, which a server keeps.
// So they do if the connection is lost: what was not sent on it is always the end
// of what was in flight, and that is sent anew before anything else, once all that
// was in flight is known to be over.
type lane struct {
	srv    *server
	pool   *pool
	todo   []int // the entries
	next   int   // in todo: those before it have been asked for
	back   part  // of todo: was in flight and comes again
	flight []part
	head   int   // of flight; those before it are over
	c      *conn // that it has used last
	sent   int   // requests in flight; of a run, each key's
	bytes  int   // in flight
	large  bool  // it is more than a window
	err    error // why nothing more will be sent

	deadline time.Time // for anything to come; zero: none
	moved    bool      // something came
	tries    int       // connections that were lost since

	// A goroutine makes a connection, or asks the version of c's server.
	preparing bool
	prepared  bool // guarded by fanout.mu until resume has seen it, as is the rest: it has ended
	prepErr   error
	asked     *conn // that it has asked, and for which
	version   *serverVersion
}

// part is a request for the entries todo[from:to].
type part struct {
	o        *op
	from, to int
	taken    int // those that were answered, as far as the job knows
	refused  int // how many refusals of the run it knows
}

func (l *lane) busy() bool { return l.head < len(l.flight) }

// over reports whether nothing is left to do.
func (l *lane) over() bool {
	return !l.busy() && !l.preparing && (l.err != nil || l.next == len(l.todo) && l.back.from == l.back.to)
}

// weight is how many requests the server has with o.
func (o *op) weight() int {
	if o.run != nil && o.verb != verbGets {
		return len(o.run.keys)
	}
	return 1
}

func (l *lane) push(p part) {
	l.flight = append(l.flight, p)
	l.sent += p.o.weight()
	l.bytes += p.o.size
}

// pop takes the oldest request out.
func (l *lane) pop() part {
	p := l.flight[l.head]
	l.flight[l.head] = part{}
	if l.head++; l.head == len(l.flight) {
		l.flight, l.head = l.flight[:0], 0
	} else if l.head > cap(l.flight)/2 {
		l.flight = slices.Delete(l.flight, 0, l.head)
		l.head = 0
	}
	l.sent -= p.o.weight()
	l.bytes -= p.o.size
	return p
}

// giveBack has the entries of p, which were in flight and not sent, asked for again.
func (l *lane) giveBack(p part) {
	if l.back.from == l.back.to {
		l.back.from = p.from
	}
	l.back.to = p.to
}

// extend gives the server its time anew.
func (f *fanout) extend(l *lane) {
	if f.patience > 0 {
		l.deadline = time.Now().Add(f.patience)
	}
}

// fill sends requests until the window is full.
func (f *fanout) fill(ctx context.Context, l *lane) {
	if l.preparing || l.err != nil {
		return
	}
	if !l.busy() && l.back.from < l.back.to {
		l.next, l.back = l.back.from, part{}
	}
	if l.next == len(l.todo) || !l.window().refill(l.sent, l.bytes) {
		return
	}
	for l.next < len(l.todo) {
		if !l.window().open(l.sent, l.bytes) {
			if !l.large {
				l.large = true
				l.pool.wantAside()
			}
			return
		}
		if !f.connect(ctx, l) {
			return
		}
		o := f.eng.ops.Get().(*op)
		n, err := f.job.ask(f, o, l.todo[l.next:])
		if err != nil {
			o.put()
			f.job.fail(l.srv, l.todo[l.next:l.next+n], err, NotSent)
			l.next += n
			continue
		}
		o.w = &f.own
		if o.needs() != 0 {
			v := l.serverVersion()
			if v == nil {
				if o.put(); !l.busy() {
					f.askVersion(ctx, l)
				}
				return
			}
			err = v.suit(o, l.srv)
		}
		if err == nil {
			err = l.c.push(o)
		}
		switch {
		case err == nil:
			l.push(part{o: o, from: l.next, to: l.next + n})
			l.next += n
		case errors.Is(err, errConnDown):
			o.put() // connect finds another, as soon as nothing is in flight
		default:
			o.put()
			if !f.refused(l, n, err) {
				return
			}
		}
	}
}

// refused takes the error of a request for the next n entries, and reports whether
// others can be sent.
func (f *fanout) refused(l *lane, n int, err error) bool {
	var lacks *UnsupportedError
	switch {
	case errors.As(err, &lacks) && f.hits == nil: // of a multi-get, all want the same
		f.job.fail(l.srv, l.todo[l.next:l.next+n], err, NotSent)
		l.next += n
		return true
	case lacks != nil || !l.busy():
		l.err = err
	}
	return false // too much waits to be sent: perhaps when some of ours has been answered
}

// deadline is when the lane gives up, if nothing comes. Zero is never.
func (f *fanout) deadline(l *lane) time.Time {
	if d := l.deadline; !d.IsZero() && (f.limit.IsZero() || d.Before(f.limit)) {
		return d
	}
	return f.limit
}

// window is what the lane may have outstanding on its connection.
func (l *lane) window() window {
	if l.large && l.c != nil && l.c != l.pool.slots[0].Load() {
		return apart
	}
	return besideOthers
}

// connect sees to it that l.c is the connection for the next request. If it reports
// false, there is none, yet or at all. While something is in flight, it can only be
// the same as before; see lane.
func (f *fanout) connect(ctx context.Context, l *lane) bool {
	if l.busy() {
		return !l.c.down.Load() && !(l.large && l.pool.better(l.c))
	}
	if l.c != nil && l.c.down.Load() {
		l.c = nil
		if l.tries++; l.tries > l.pool.maxTries() {
			l.err = f.cl.lostError()
			return false
		}
	}
	pick := l.pool.pick
	if l.large {
		pick = l.pool.pickAside
	}
	c, more := pick()
	if c != nil {
		if more && l.pool.hasRoom() {
			_, _ = l.pool.startDial() // for those who come later
		}
		l.c = c
		return true
	}
	f.dial(ctx, l)
	return false
}

// rest takes the entries that have not been asked for.
func (l *lane) rest() []int {
	from := l.next
	if l.back.from < l.back.to {
		from = l.back.from
	}
	l.next, l.back = len(l.todo), part{}
	return l.todo[from:]
}

// abandon gives up all that is outstanding, and what has not been asked for, and
// returns the entries by what is known of them. Of values, those are unanswered that
// nobody was given. It begins at the end, because a request can only be taken back
// if those behind it were.
func (l *lane) abandon(f *fanout) (unknown, notSent []int) {
	unsent := len(l.flight)
	for i := len(l.flight) - 1; i >= l.head; i-- {
		p := &l.flight[i]
		o := p.o
		if o.c.retract(o) {
			unsent = i
			continue
		}
		entries := l.todo[p.from:p.to]
		look := func(o *op) {
			if f.hits == nil {
				p.taken = f.job.settled(l.srv, o, entries)
			}
		}
		if o.reclaim(); !o.abandon(look) {
			if lost := o.lost(); lost != nil && lost.outcome == NotSent {
				unsent = i
			} else {
				look(o)
			}
			o.put() // complete in the meantime, and so ours
		}
	}
	for i := l.head; i < len(l.flight); i++ {
		p := l.flight[i]
		if i < unsent {
			unknown = append(unknown, l.todo[p.from+p.taken:p.to]...)
		} else {
			notSent = append(notSent, l.todo[p.from:p.to]...)
		}
	}
	notSent = append(l.todo[l.back.from:l.back.to:l.back.to], notSent...)
	notSent = append(notSent, l.todo[l.next:]...)
	clear(l.flight)
	l.flight, l.head, l.sent, l.bytes = l.flight[:0], 0, 0, 0
	l.next, l.back = len(l.todo), part{}
	l.preparing = false // its goroutine ends by itself
	return unknown, notSent
}

// reset forgets a call.
func (l *lane) reset() {
	*l = lane{todo: kept(l.todo), flight: kept(l.flight)}
}
