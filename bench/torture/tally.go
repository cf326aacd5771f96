package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/memring/memring/client"
)

// tally counts what happened, in one round or in several.
type tally struct {
	ops, gets, wrong, hangs, leaks, desyncs atomic.Uint64

	timeouts atomic.Uint64 // calls that ended by their deadline or cancellation
	sent     atomic.Uint64 // those of them whose request had been sent

	owed  atomic.Uint64 // requests given up after sending, where the server answered all in the end
	saved atomic.Uint64 // those of them whose reply found its connection alive

	lateWrites atomic.Uint64 // writes whose outcome was told later

	lost, unavailable, overloaded, server atomic.Uint64 // calls that ended by other errors
	odd                                   atomic.Uint64 // and by such as no call may end by

	dials, losses atomic.Uint64
	unwanted      atomic.Uint64 // connections lost although the server answered everything
	unquiet       atomic.Uint64 // calls that failed where only idle connections were closed
	misclosed     atomic.Uint64 // calls that ended otherwise than Close should end them

	unexplained atomic.Uint64 // calls late by more than lateLimit that the machine does not explain

	late  lateness // of the calls that returned after their deadline
	timer lateness // of timers that have nothing to do with memring, at the same time
}

// numbers are all that can be added.
func (t *tally) numbers() []*atomic.Uint64 {
	return []*atomic.Uint64{
		&t.ops, &t.gets, &t.wrong, &t.hangs, &t.leaks, &t.desyncs, &t.timeouts, &t.sent, &t.owed, &t.saved,
		&t.lost, &t.unavailable, &t.overloaded, &t.server, &t.odd, &t.dials, &t.losses, &t.unwanted, &t.unquiet, &t.misclosed, &t.lateWrites,
		&t.unexplained,
	}
}

func (t *tally) add(o *tally) {
	from := o.numbers()
	for i, n := range t.numbers() {
		n.Add(from[i].Load())
	}
	t.late.merge(&o.late)
	t.timer.merge(&o.timer)
}

// counts are what a part's row needs.
func (t *tally) counts() counts {
	return counts{
		ops: t.ops.Load(), wrong: t.wrong.Load(), hangs: t.hangs.Load(), leaks: t.leaks.Load(), desyncs: t.desyncs.Load(),
		broken: t.misclosed.Load() + t.odd.Load(), timeouts: t.timeouts.Load(), owed: t.owed.Load(), saved: t.saved.Load(),
	}
}

// classify counts a call's error.
func (c *caller) classify(op string, err error) {
	t := c.tally
	var e *client.OpError
	isOp := errors.As(err, &e)
	switch {
	case err == nil:
	case errors.Is(err, client.ErrDesync): // the client's own count is the one that is reported
		c.odd(op, err)
	case !isOp:
		t.odd.Add(1)
		c.odd(op, err)
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.Canceled):
		t.timeouts.Add(1)
		if e.Outcome == client.Unknown {
			t.sent.Add(1)
		}
	case errors.Is(err, client.ErrConnLost):
		t.lost.Add(1)
	case errors.Is(err, client.ErrUnavailable):
		t.unavailable.Add(1)
	case errors.Is(err, client.ErrOverloaded):
		t.overloaded.Add(1)
	case errors.Is(err, client.ErrServer):
		t.server.Add(1)
		c.odd(op, err)
	default:
		t.odd.Add(1)
		c.odd(op, err)
	}
}
