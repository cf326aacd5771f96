package client

import (
	"fmt"
	"time"
)

// DeleteOptions asks more of a Delete, of a [Batch]'s and of a DeleteMulti too. The
// zero value asks nothing. It is the last argument, at most once.
type DeleteOptions struct {
	// IfCAS deletes, or invalidates, only if the item has this CAS; else the call
	// returns [ErrConflict]. If zero, it is not looked at.
	IfCAS uint64
	// Invalidate leaves the item there as a [Stale] one, with another CAS: the next to
	// get it has [Won], and is to store it anew; until then the others get it with
	// Stale and [Claimed], and can use the old value. To the server each get of one
	// key is a get, an Inspect and a Touch as well, and whoever calls them: one that
	// does not look at State leaves the item to nobody. A GetMulti has won nothing if
	// it has neither options nor binary keys.
	Invalidate bool
	// DropValue leaves the item there without its value and its client flags, from
	// memcached 1.6.27 on. With Invalidate, what is left is Stale as well.
	DropValue bool
	// TTL is for how long what is left stays. If zero, an invalidated item keeps the
	// TTL it had; DropValue needs another. If negative, it stays for ever. It needs
	// Invalidate or DropValue.
	TTL time.Duration
	// NewCAS is the CAS of what is left, from memcached 1.6.27 on. If zero, Invalidate
	// has the server choose one, and DropValue alone leaves it as it was. It needs
	// Invalidate or DropValue.
	NewCAS uint64
	// Hints go to a proxy.
	Hints Hints
}

// apply makes the options part of a delete's request.
func (d *DeleteOptions) apply(r *request) (err error) {
	leaves := d.Invalidate || d.DropValue
	switch {
	case !leaves && (d.TTL != 0 || d.NewCAS != 0):
		return fmt.Errorf("%w: TTL and NewCAS are for Invalidate and DropValue", ErrArgument)
	case d.DropValue && d.TTL == 0:
		// memcached makes a new item for it, and has forgotten the old one's TTL.
		return fmt.Errorf("%w: DropValue needs a TTL; a negative one is for ever", ErrArgument)
	}
	x := r.extra()
	b := x.flags
	if d.IfCAS != 0 {
		b = r.appendIfCAS(b, d.IfCAS)
	}
	if d.Invalidate {
		b = append(b, " I"...)
	}
	if d.DropValue {
		b = append(b, " x"...)
		x.needs |= dropValue
	}
	if b, err = appendTTL(b, " T", d.TTL); err != nil {
		return err
	}
	if d.NewCAS != 0 {
		b = r.appendNewCAS(b, d.NewCAS)
	}
	x.flags = b
	return d.Hints.apply(r)
}
