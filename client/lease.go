package client

import (
	"context"
	"iter"
	"slices"
)

// Lease is an item whose Value is lent: its memory comes out of a pool, and goes
// back there with [Lease.Release]. Until then it is the caller's alone, to read and
// to write. Values that are kept, passed on or appended to beyond their length
// belong into memory of their own: see [Client.Get], or copy them.
//
// Whoever gets a Lease is to release it once, when nobody will look at the Value
// any more. One that is never released does no harm: the collector takes its memory
// as any other. A Lease may be copied; all copies are the same lease.
type Lease struct {
	Item
	block *block // nil in the zero Lease
	term  uint64 // which lending of the block this is
}

// Release gives the Value's memory back and sets l.Value to nil. Other slices of it,
// as in copies of the Lease, must not be used any more: soon another value will be
// there. Config.PoisonLeases finds out who does.
//
// A lease can be released once, by whichever copy; every further call returns
// [ErrReleased] and does nothing, whoever has the memory by then. The zero Lease,
// as calls that fail return it, has nothing to release, which is no error. Leases
// may outlive their client.
func (l *Lease) Release() error {
	b := l.block
	if b == nil {
		return nil
	}
	// The end of the term is what makes the memory ours. It lies in the block and
	// not in the Lease, so that copies see it, and has a number, so that those of
	// this lending do not end the next one.
	if !b.term.CompareAndSwap(l.term, l.term+1) {
		return ErrReleased
	}
	l.Value = nil
	b.home.release(b)
	return nil
}

// GetLease is [Client.Get] with a Value that is lent, not given: from some 32 KiB
// on, fresh memory costs more than the transfer does. It allocates nothing if
// leases are released. If it fails, the Lease is the zero one, or with
// [ErrNotModified] one without a Value.
func (cl *Client) GetLease(ctx context.Context, key string, opts ...GetOptions) (Lease, error) {
	o, srv, err := cl.get(ctx, verbGet, key, nil, true, opts)
	if err != nil {
		return Lease{}, err
	}
	block := o.block
	o.block = nil
	it, err := o.result(srv, opts)
	l := Lease{Item: it, block: block}
	if block != nil {
		l.term, l.Value = block.term.Load(), slices.Clip(it.Value)
	}
	return l, err
}

// GetMultiLease is [Client.GetMulti] with Values that are lent, each for itself:
// the loop's body gets every Lease to release, that with which it leaves the loop
// too. They may be kept beyond the loop. With an error comes the zero Lease.
func (cl *Client) GetMultiLease(ctx context.Context, keys []string, opts ...GetOptions) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		cl.getMulti(ctx, keys, opts, &multiGet{leases: true, yield: yield})
	}
}
