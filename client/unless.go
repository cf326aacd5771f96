package client

import (
	"context"

	"github.com/memring/memring/reader"
)

// degrade changes the request so that it does without as many of the missing features
// as have an equivalent, and returns the others. What is changed here, the request's
// own call has to see to.
func (r *request) degrade(missing feature) feature {
	if r.verb == verbMeta || r.extras.single {
		return missing
	}
	if missing&unlessCAS != 0 {
		r.extras.bare = true // getUnless asks for the value after it
	}
	if missing&createAppend != 0 {
		r.create = false // join adds it
	}
	done := unlessCAS | createAppend
	r.extras.needs &^= missing & done
	return missing &^ done
}

// maxRounds bounds how often a call that takes several requests begins again because
// others have changed the item in between.
const maxRounds = 16

// getUnless carries out a get whose value is wanted only if it is another than the
// caller's. A server that does not know how to do that takes two requests: the first
// does everything but bring the value, and tells the item's CAS.
//
// Others may change the item between the two. What the second finds is a whole item
// with a CAS of its own; only if that is the first's does the first's State hold.
func (cl *Client) getUnless(ctx context.Context, srv *server, o *op, opts *GetOptions) error {
	deadline := cl.deadline(ctx)
	for round := range maxRounds {
		if round > 0 { // deleted in between, and to be made then
			if err := o.again(opts); err != nil {
				return partly(o.refuse(err), true)
			}
			o.extras.bare = true
			o.extras.needs &^= unlessCAS
		}
		if err := cl.do(ctx, deadline, srv, o); err != nil {
			return partly(err, round > 0)
		}
		if !o.extras.bare || o.status != reader.OK {
			return nil // answered by one
		}
		if o.found.cas == opts.UnlessCAS {
			o.status, o.extras.info.Size = reader.Unchanged, 0
			return nil
		}
		first, info := o.found, o.extras.info
		rest := *opts
		rest.Touch, rest.Vivify, rest.NewCAS, rest.Recache, rest.UnlessCAS, rest.NoBump, rest.Bump = 0, 0, 0, 0, 0, true, false
		if err := o.again(&rest); err != nil {
			return partly(o.refuse(err), true)
		}
		o.extras.asks |= reader.WantCAS
		if err := cl.do(ctx, deadline, srv, o); err != nil {
			return partly(err, true)
		}
		switch {
		case o.status == reader.OK && o.found.cas == first.cas:
			o.found.state = first.state
			info.Size = o.extras.info.Size
			o.extras.info = info
			return nil
		case o.status == reader.OK || opts.Vivify == 0:
			return nil
		}
	}
	return nil // a miss, as the last round has found it
}

// partly is the error of a call's later request: that nothing of that was sent is not
// true of the call.
func partly(err error, later bool) error {
	if op, ok := err.(*OpError); ok && later && op.Outcome == NotSent { //nolint:errorlint // as do makes them
		op.Outcome = Unknown
	}
	return err
}

// again makes an op whose reply has come ready for another request of its call, with
// these options.
func (o *op) again(opts *GetOptions) error {
	o.state, o.status, o.err = opPending, 0, nil
	o.found, o.valued = found{}, false
	x := o.extra()
	*x = extras{flags: x.flags[:0]}
	return opts.apply(&o.request)
}
