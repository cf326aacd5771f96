package client

import "slices"

// borrow gets the memory for a value that is to be lent, of which nothing has come
// yet. The op is claimed and pending, so there is a caller who wants it.
func (o *op) borrow() {
	o.block = o.c.p.srv.cl.lender.lend(o.want)
	o.dst = o.block.mem[:0]
}

// handOver makes a Lease of the value that has come, which is the op's no longer.
// Without a block it is a value of the caller's own.
func (o *op) handOver() Lease {
	l := Lease{Item: o.item, block: o.block}
	l.Value = slices.Clip(o.dst) // appending must not reach into the rest of the block
	if o.block != nil {
		l.term = o.block.term.Load()
	}
	o.item, o.dst, o.block = Item{}, nil, nil
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
	giveBack(o.hits)
	o.hits = nil
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
