package client

import "fmt"

// options are what a request of a batch has of GetOptions, StoreOptions, DeleteOptions
// or CounterOptions. Those that tell something have a method tell(*op), too.
type options interface {
	// apply makes them part of the request, or says what is wrong with them.
	apply(r *request) error
}

// entryOptions gives r the options of its call.
func entryOptions[T any, P interface {
	*T
	options
}](r *Result, opts []T,
) *Result {
	if len(opts) == 0 {
		return r
	}
	o, err := one(opts)
	r.options, r.err = P(&o), err
	return r
}

// forAll refuses options that are about one item in a call for many.
func (s *StoreOptions) forAll() error {
	if s.IfCAS != 0 || s.StoredCAS != nil || s.StoredSize != nil {
		return fmt.Errorf("%w: IfCAS, StoredCAS and StoredSize are about one item; use a Batch", ErrArgument)
	}
	return s.apply(&request{verb: verbSet})
}

func (d *DeleteOptions) forAll() error {
	if d.IfCAS != 0 {
		return fmt.Errorf("%w: IfCAS is about one item; use a Batch", ErrArgument)
	}
	return d.apply(&request{verb: verbDelete})
}
