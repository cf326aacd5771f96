package client

import (
	"time"

	"github.com/memring/memring/reader"
)

// CounterOptions asks more of an Increment or Decrement. The zero value asks
// nothing. It is the last argument, at most once, of a [Batch]'s too.
type CounterOptions struct {
	// IfCAS changes the number only if the item has this CAS; else the call returns
	// [ErrConflict]. If zero, it is not looked at. It says nothing of an item that is
	// yet to be made.
	IfCAS uint64
	// NewCAS is the CAS that the item gets, from memcached 1.6.27 on. If zero, the
	// server chooses it. Touch's limitation holds for it as well.
	NewCAS uint64
	// Touch sets the item's TTL anew, that of a new item as well, whatever its [Counter]
	// says. If zero, it stays as it is; if negative, the item never expires.
	//
	// memcached (up to 1.6.40 at least) loses the new TTL when a number becomes longer,
	// as from 9 to 10: it sets it on the item that it has just replaced.
	Touch time.Duration
	// CAS, if not nil, gets the CAS that the item has now. Like TTL it is set before
	// the call returns, if that returns no error, and not touched after; in a [Batch]
	// before Do returns, if the result has no error.
	CAS *uint64
	// TTL, if not nil, gets what the item has left to live, before Touch: negative if
	// it never expires.
	TTL *time.Duration
	// Hints go to a proxy.
	Hints Hints
}

// apply makes the options part of the request. The server goes through the flags in
// their order, so t tells what was before T.
func (c *CounterOptions) apply(r *request) (err error) {
	x := r.extra()
	b := x.flags
	if c.IfCAS != 0 {
		b = r.appendIfCAS(b, c.IfCAS)
	}
	if c.NewCAS != 0 {
		b = r.appendNewCAS(b, c.NewCAS)
	}
	if c.TTL != nil {
		b = append(b, " t"...)
		x.asks |= reader.WantTTL
	}
	if b, err = appendTTL(b, " T", c.Touch); err != nil {
		return err
	}
	if c.CAS != nil {
		b = append(b, " c"...)
		x.asks |= reader.WantCAS
	}
	x.flags = b
	return c.Hints.apply(r)
}

// tell fills in what was asked for.
func (c *CounterOptions) tell(o *op) {
	if c.CAS != nil {
		*c.CAS = o.found.cas
	}
	if c.TTL != nil {
		*c.TTL = o.extras.info.TTL
	}
}
