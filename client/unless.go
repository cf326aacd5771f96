package client

import (
	"context"

	"github.com/memring/memring/reader"
)

// degrade changes the request so that it does without as many of the missing features
// as have an equivalent, and returns the others. What is changed here, the request's
// own call has to see to.
func (r *request) degrade(missing feature) feature {
	if r.verb == verbMeta {
		return missing
	}
	if missing&unlessCAS != 0 {
		r.bare = true // fetch asks for the value after it
	}
	if missing&createAppend != 0 {
		r.create = false // join adds it
	}
	done := unlessCAS | createAppend
	r.needs &^= missing & done
	return missing &^ done
}

// maxRounds bounds how often a call that takes several requests begins again because
// others have changed the item in between.
const maxRounds = 16

// fetch carries a get out, in two requests if the value is wanted only if it is
// another and the server does not know how to do that: the first does everything but
// bring the value, and tells the item's CAS.
//
// Others may change the item between the two. What the second finds is a whole item
// with a CAS of its own; only if that is the first's does the first's State hold.
func (cl *Client) fetch(ctx context.Context, srv *server, o *op, opts []GetOptions) error {
	if o.unless == 0 {
		return cl.do(ctx, srv, o)
	}
	deadline, unless := cl.deadline(ctx), o.unless
	for round := range maxRounds {
		if round > 0 { // deleted in between, and to be made then
			o.again()
			o.bare, o.unless = true, unless
			if err := opts[0].apply(&o.request); err != nil {
				return partly(o.refuse(err), true)
			}
			o.needs &^= unlessCAS
		}
		if err := cl.doBy(ctx, deadline, srv, o); err != nil {
			return partly(err, round > 0)
		}
		if !o.bare || o.status != reader.OK {
			return nil // answered by one
		}
		if o.item.CAS == unless {
			o.status, o.info.Size = reader.Unchanged, 0
			return nil
		}
		first, info := o.item, o.info
		g := opts[0]
		o.again()
		o.bare, o.unless = false, 0
		g.Touch, g.Vivify, g.NewCAS, g.Recache, g.UnlessCAS, g.NoBump, g.Bump = 0, 0, 0, 0, 0, true, false
		if err := g.apply(&o.request); err != nil {
			return partly(o.refuse(err), true)
		}
		o.asks |= reader.WantCAS
		if err := cl.doBy(ctx, deadline, srv, o); err != nil {
			return partly(err, true)
		}
		switch {
		case o.status == reader.OK && o.item.CAS == first.CAS:
			o.item.State = first.State
			info.Size = o.info.Size
			o.info = info
			return nil
		case o.status == reader.OK || opts[0].Vivify == 0:
			return nil
		}
	}
	return nil // a miss, as the last round has found it
}

// partly is the error of a call's later request: that nothing of that was sent is not
// true of the call.
func partly(err error, later bool) error {
	if op, ok := err.(*OpError); ok && later && op.Outcome == NotSent { //nolint:errorlint // as doBy makes them
		op.Outcome = Unknown
	}
	return err
}

// again makes an op whose reply has come ready for another request of its call. The
// options have to be applied anew.
func (o *op) again() {
	o.state, o.status, o.err = opPending, 0, nil
	o.item, o.info, o.valued = Item{}, Info{}, false
	o.extra, o.asks = o.extra[:0], 0
}
