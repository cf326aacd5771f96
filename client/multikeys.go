package client

import (
	"context"
	"time"
)

// DeleteMulti drops the items stored under many keys, and returns nil if all were
// there. Otherwise the error is a [BatchError] with the keys' errors by their numbers
// in keys, [ErrNotFound] for those without an item; see [Except]. Of time, memory and
// order holds what does for [Client.SetMulti].
//
// The server is asked to be quiet about keys that it has. If it answers an error
// line, which does not say what key it is about, then it may be that of several keys:
// each has the error then, and its Outcome is [Unknown]. [DeleteOptions] ask for more,
// of all keys; IfCAS, which is about one, is [ErrArgument]. With DropValue,
// [ErrNotStored] says that there was no room for what is to be left.
func (cl *Client) DeleteMulti(ctx context.Context, keys []string, opts ...DeleteOptions) error {
	k := &multiKeys{results: results{op: "delete multi", n: len(keys)}, keys: keys, verb: verbDeleteRun, quiet: true}
	if len(opts) > 0 {
		o, err := one(opts)
		if err == nil {
			err = o.forAll()
		}
		if err != nil {
			return &OpError{Op: k.op, Outcome: NotSent, Err: err}
		}
		k.options = &o
	}
	return cl.carryOut(ctx, k, &k.results)
}

// TouchMulti sets the TTL of the items stored under many keys anew, and returns nil
// if all were there. Otherwise the error is a [BatchError] with the keys' errors by
// their numbers in keys, [ErrNotFound] for those without an item; see [Except]. Of
// time, memory and order holds what does for [Client.SetMulti].
func (cl *Client) TouchMulti(ctx context.Context, keys []string, ttl time.Duration) error {
	k := &multiKeys{results: results{op: "touch multi", n: len(keys)}, keys: keys, verb: verbTouchRun}
	var err error
	if k.exptime, err = exptime(ttl); err != nil {
		return &OpError{Op: k.op, Outcome: NotSent, Err: err}
	}
	return cl.carryOut(ctx, k, &k.results)
}

// multiKeys is the job of calls that need nothing but keys. A delete says nothing if
// it has found its item, which is what is expected. A touch would say nothing if it
// has not, so there being quiet saves nothing.
type multiKeys struct {
	results
	keys    []string
	verb    verb
	quiet   bool
	exptime int64
	options *DeleteOptions // nil: none
}

var _ job = (*multiKeys)(nil)

func (k *multiKeys) key(entry int) string { return k.keys[entry] }

func (k *multiKeys) ask(f *fanout, o *op, entries []int) (n int, err error) {
	o.begin(k.verb, "")
	o.exptime = k.exptime
	if k.options != nil {
		if err := k.options.apply(&o.request); err != nil {
			return min(len(entries), runKeys), err
		}
	}
	r := o.startRun(k.quiet)
	for room := maxRunBytes; n < min(len(entries), runKeys) && room > 0; n++ {
		w := f.wire(entries[n])
		r.add(w, k.keys[entries[n]])
		room -= len(w.text)
	}
	return n, nil
}

func (k *multiKeys) settled(srv *server, o *op, entries []int) int {
	o.run.errors(k.verb, srv, 0, o.run.settled, func(i int, err error) { k.set(entries[i], err) })
	return o.run.settled
}

func (k *multiKeys) fail(srv *server, entries []int, err error, outcome Outcome) bool {
	k.results.fail(k.verb, srv, entries, err, outcome)
	return true
}
