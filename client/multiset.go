package client

import (
	"context"
	"errors"
)

// SetMulti stores many items, whatever was there before, and returns nil if all have
// been stored. Otherwise the error is a [BatchError], with the items' errors by their
// numbers in items: one that is bad, or that its server refuses, costs no other one
// anything, nor does a server that fails the items of another.
//
// Items may be any number. All servers are written to at the same time, each over one
// connection, on which a window of requests is outstanding: replies are read while
// requests are still to be sent, and other callers' requests find their way past.
// Items with the same key are stored in their order; see [Client.Do] for what that
// means if a connection breaks.
//
// The call ends at the context's deadline or when the context is cancelled. Since it
// may take long, Config.OpTimeout does not bound it: it is for how long a server may
// bring nothing before what it still has to do is given up. The Values are the
// caller's own again when the call has returned. [StoreOptions] ask for more, of all
// items; those that are about one are [ErrArgument].
func (cl *Client) SetMulti(ctx context.Context, items []Item, opts ...StoreOptions) error {
	s := &multiSet{results: results{op: "set multi", n: len(items)}, items: items}
	if len(opts) > 0 {
		o, err := one(opts)
		if err == nil {
			err = o.forAll()
		}
		if err != nil {
			return &OpError{Op: s.op, Outcome: NotSent, Err: err}
		}
		s.options = &o
	}
	return cl.carryOut(ctx, s, &s.results)
}

// carryOut runs the job of a batch, whose entries' errors come together in r.
func (cl *Client) carryOut(ctx context.Context, j job, r *results) error {
	if err := cl.usable(ctx); err != nil {
		return &OpError{Op: r.op, Outcome: NotSent, Err: err}
	}
	f := cl.fanout(j)
	f.patience = cl.cfg.OpTimeout
	f.limit, _ = ctx.Deadline()
	f.run(ctx, r.n, nil)
	return r.err()
}

// multiSet is the job of a SetMulti. Each item is a request with a reply of its own:
// a server's error lines do not say what they are about, so among quiet requests
// nobody could tell which item was refused.
type multiSet struct {
	results
	items   []Item
	options *StoreOptions // nil: none
}

var _ job = (*multiSet)(nil)

func (s *multiSet) key(entry int) string { return s.items[entry].Key }

func (s *multiSet) ask(f *fanout, o *op, entries []int) (int, error) {
	it := &s.items[entries[0]]
	o.begin(verbSet, it.Key)
	o.wire = f.wire(entries[0])
	err := o.carry(it)
	if err == nil && s.options != nil {
		err = s.options.apply(&o.request)
	}
	return 1, err
}

func (s *multiSet) settled(srv *server, o *op, entries []int) int {
	if !o.answered() {
		return 0
	}
	s.set(entries[0], o.answer(srv))
	return 1
}

func (s *multiSet) fail(srv *server, entries []int, err error, outcome Outcome) bool {
	s.results.fail(verbSet, srv, entries, err, outcome)
	return true
}

// answered reports whether an op for one key has an answer.
func (o *op) answered() bool {
	return o.state == opDone && o.lost() == nil
}

// lost says how an op that is done was lost with its connection, nil if it was not.
func (o *op) lost() *connError {
	if o.err == nil {
		return nil // or lost would be on the heap
	}
	var lost *connError
	errors.As(o.err, &lost)
	return lost
}

// answer is the error that an answered op's call returns.
func (o *op) answer(srv *server) error {
	if o.err != nil {
		return opErrorOf(o.verb, srv, o.err)
	}
	return statusError(o.verb, srv, o.status)
}
