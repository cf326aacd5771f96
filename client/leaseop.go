package client

import (
	"slices"

	"github.com/memring/memring/reader"
)

// borrow gets the memory for a value that is to be lent, of which nothing has come
// yet. The op is claimed and pending, so there is a caller who wants it.
func (o *op) borrow() {
	o.block = o.c.p.srv.cl.lender.lend(o.want)
	o.dst = o.block.mem[:0]
}

// handOver makes a Lease of the value that has come for a run's key, which is the op's
// no longer. Without a block it is a value of the caller's own.
func (o *op) handOver() Lease {
	// The parser has checked that it is this key's. The caller's own string is
	// as good as the server's and costs nothing. Appending to the value must not reach
	// into the rest of the block.
	l := Lease{Item: o.found.item(o.run.name(o.run.hit), slices.Clip(o.dst)), block: o.block}
	if o.block != nil {
		l.term = o.block.term.Load()
	}
	if o.asks()&reader.WantTTL != 0 {
		l.Info = o.told(o.run.options)
	}
	o.dst, o.block = nil, nil
	return l
}

// giveBack ends the loans of an op whose caller does not want them. The caller must
// be sure that nobody writes to them any more: mu is held and nothing lands, or the
// op is done.
func (o *op) giveBack() {
	if o.block != nil {
		o.block.home.put(o.block)
		o.block = nil
	}
	if o.run != nil {
		giveBack(o.run.hits)
		o.run.hits = o.run.hits[:0]
	}
}

// giveBack ends leases that no caller has seen, and forgets them.
func giveBack(hits []Lease) {
	for i := range hits {
		if b := hits[i].block; b != nil {
			b.home.put(b)
		}
	}
	clear(hits)
}
