package client

import (
	"fmt"

	"github.com/memring/memring/reader"
)

// StoreOptions asks more of a store. The zero value asks nothing. It is the last
// argument of Set, Add, Replace, Append, Prepend and CompareAndSwap, of a [Batch]'s too,
// and of SetMulti, at most once.
type StoreOptions struct {
	// IfCAS stores only if the item has this CAS; else the call returns
	// [ErrConflict]. If there is no item, Set and Replace return [ErrNotFound], Append
	// and Prepend [ErrNotStored]. If zero, it is not looked at. CompareAndSwap has
	// Item.CAS for it, and an Add, which stores only where there is no item, no use.
	IfCAS uint64
	// StaleIfOlder stores the value even if the item has a newer CAS than the one
	// compared with, but as a [Stale] one, so that the next to get it is told to
	// store it anew. It keeps the TTL that the item had. It needs IfCAS, with Set or
	// Replace, or CompareAndSwap.
	StaleIfOlder bool
	// NewCAS is the CAS that the item gets, from memcached 1.6.27 on, for values that
	// have versions of their own. If zero, the server chooses it.
	NewCAS uint64
	// Create has an Append or Prepend that finds no item store the value as one, with
	// the Item's TTL and Flags. Without it that is [ErrNotStored]. It cannot be had
	// with IfCAS.
	//
	// memcached has this from 1.6.20 on. With an earlier one it takes two requests
	// where there is no item: the Append, and an Add. If somebody stores an item in
	// between it begins again, so the value is there once in any case. In a [Batch],
	// which has no place for the second, it is [ErrUnsupported].
	Create bool
	// StoredCAS, if not nil, gets the CAS that the item has now. Like StoredSize it is
	// set before the call returns, if that returns nil, and not touched after; in a
	// [Batch] before Do returns, if the result has no error.
	StoredCAS *uint64
	// StoredSize, if not nil, gets the bytes of the item's whole value, after an
	// Append or Prepend too, from memcached 1.6.20 on.
	StoredSize *int
	// Hints go to a proxy.
	Hints Hints
}

// apply makes the options part of a store's request.
func (s *StoreOptions) apply(r *request) error {
	joins := r.verb == verbAppend || r.verb == verbPrepend
	switch {
	case s.IfCAS != 0 && r.verb == verbAdd:
		return fmt.Errorf("%w: IfCAS with Add, which stores only where there is no item", ErrArgument)
	case s.IfCAS != 0 && r.verb == verbCompareAndSwap:
		return fmt.Errorf("%w: IfCAS with CompareAndSwap, which has Item.CAS", ErrArgument)
	case s.StaleIfOlder && (joins || s.IfCAS == 0 && r.verb != verbCompareAndSwap):
		return fmt.Errorf("%w: StaleIfOlder needs IfCAS with Set or Replace, or CompareAndSwap", ErrArgument)
	case s.Create && !joins:
		return fmt.Errorf("%w: Create is for Append and Prepend", ErrArgument)
	case s.Create && s.IfCAS != 0:
		return fmt.Errorf("%w: Create with IfCAS: what is yet to be made has no CAS", ErrArgument)
	}
	x := r.extra()
	b := x.flags
	if s.IfCAS != 0 {
		b = r.appendIfCAS(b, s.IfCAS)
	}
	if s.StaleIfOlder {
		b = append(b, " I"...)
	}
	if s.NewCAS != 0 {
		b = r.appendNewCAS(b, s.NewCAS)
	}
	if s.Create {
		r.create = true
		x.needs |= createAppend
	}
	if s.StoredCAS != nil {
		b = append(b, " c"...)
		x.asks |= reader.WantCAS
	}
	if s.StoredSize != nil {
		b = append(b, " s"...)
		x.asks |= reader.WantSize
		x.needs |= storedSize
	}
	x.flags = b
	return s.Hints.apply(r)
}

// tell fills in what was asked for.
func (s *StoreOptions) tell(o *op) {
	if s.StoredCAS != nil {
		*s.StoredCAS = o.found.cas
	}
	if s.StoredSize != nil {
		*s.StoredSize = o.extras.info.Size
	}
}
