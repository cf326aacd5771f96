package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memring/memring/reader"
)

// Batch is requests of any kind that [Client.Do] carries out together. Its methods
// add one each and return where its result will be. The zero Batch is empty and ready
// for use, and so is one that Do has carried out. A Batch is one goroutine's at a time;
// results may be read by any once Do has returned.
//
// The arguments are those of the Client's method of the same name. A bad one is the
// error of its result alone. Values belong to the Batch until Do has returned. What
// takes two requests with an older server has no place in one: GetOptions.UnlessCAS and
// StoreOptions.Create are [ErrUnsupported] then.
type Batch struct{ entries []*Result }

// Result is what became of a request of a [Batch].
type Result struct {
	verb    verb
	item    Item // to be stored, or got
	delta   uint64
	init    *Counter
	options options // nil: none

	done  bool
	count uint64
	err   error
}

// ItemResult is the Result of a request for an item.
type ItemResult struct{ Result }

// CountResult is the Result of arithmetic.
type CountResult struct{ Result }

// Err is the request's error, as the Client's method returns it. Before Do has
// returned it is ErrArgument.
func (r *Result) Err() error {
	if !r.done {
		return fmt.Errorf("%w: the result of a Batch is there when Client.Do has returned", ErrArgument)
	}
	return r.err
}

// Item is the item that was asked for, if there is no error; with [ErrNotModified] it
// is without its Value. That is the caller's own.
func (r *ItemResult) Item() (Item, error) {
	if err := r.Err(); !r.done {
		return Item{}, err
	}
	return r.item, r.err
}

// Count is the number after the request was carried out, if there is no error.
func (r *CountResult) Count() (uint64, error) {
	if err := r.Err(); err != nil {
		return 0, err
	}
	return r.count, nil
}

// Len is how many requests have been added.
func (b *Batch) Len() int { return len(b.entries) }

// Get adds a [Client.Get].
func (b *Batch) Get(key string, opts ...GetOptions) *ItemResult {
	r := &ItemResult{Result{verb: verbGet, item: Item{Key: key}}}
	entryOptions(&r.Result, opts)
	b.entries = append(b.entries, &r.Result)
	return r
}

// Set adds a [Client.Set].
func (b *Batch) Set(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbSet, it), opts)
}

// Add adds a [Client.Add].
func (b *Batch) Add(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbAdd, it), opts)
}

// Replace adds a [Client.Replace].
func (b *Batch) Replace(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbReplace, it), opts)
}

// Append adds a [Client.Append].
func (b *Batch) Append(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbAppend, it), opts)
}

// Prepend adds a [Client.Prepend].
func (b *Batch) Prepend(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbPrepend, it), opts)
}

// CompareAndSwap adds a [Client.CompareAndSwap].
func (b *Batch) CompareAndSwap(it Item, opts ...StoreOptions) *Result {
	return entryOptions(b.add(verbCompareAndSwap, it), opts)
}

// Delete adds a [Client.Delete].
func (b *Batch) Delete(key string, opts ...DeleteOptions) *Result {
	return entryOptions(b.add(verbDelete, Item{Key: key}), opts)
}

// Touch adds a [Client.Touch].
func (b *Batch) Touch(key string, ttl time.Duration) *Result {
	return b.add(verbTouch, Item{Key: key, TTL: ttl})
}

// Increment adds a [Client.Increment].
func (b *Batch) Increment(key string, delta uint64, init *Counter, opts ...CounterOptions) *CountResult {
	return b.arithmetic(verbIncrement, key, delta, init, opts)
}

// Decrement adds a [Client.Decrement].
func (b *Batch) Decrement(key string, delta uint64, init *Counter, opts ...CounterOptions) *CountResult {
	return b.arithmetic(verbDecrement, key, delta, init, opts)
}

func (b *Batch) add(v verb, it Item) *Result {
	r := &Result{verb: v, item: it}
	b.entries = append(b.entries, r)
	return r
}

func (b *Batch) arithmetic(v verb, key string, delta uint64, init *Counter, opts []CounterOptions) *CountResult {
	r := &CountResult{Result{verb: v, item: Item{Key: key}, delta: delta, init: init}}
	entryOptions(&r.Result, opts)
	b.entries = append(b.entries, &r.Result)
	return r
}

// Do carries out all requests of b, leaves it empty, and returns nil if none of their
// results has an error. Otherwise the error is a [BatchError], with the results' errors
// in the order in which they were added. Of time and memory holds what does for
// [Client.SetMulti].
//
// Requests to one server are carried out in the order in which they were added, and
// so are all those for one key. Nothing is atomic: requests of others come between
// them, and one is carried out whatever became of that before it. If a connection
// breaks, those not sent yet go over another one, still in their order; those that
// were sent have an Unknown outcome, and the server may carry one out even after the
// later ones.
func (cl *Client) Do(ctx context.Context, b *Batch) error {
	m := &multiDo{}
	if b != nil {
		m.entries, b.entries = b.entries, nil
	}
	m.results = results{op: "batch", n: len(m.entries)}
	err := cl.carryOut(ctx, m, &m.results)
	for i, r := range m.entries {
		r.err = nil
		if r.done = true; m.errs != nil {
			r.err = m.errs[i]
		} else {
			r.err = err // no call could be made at all
		}
		if r.verb != verbGet || r.err != nil && !errors.Is(r.err, ErrNotModified) {
			r.item = Item{} // the caller's memory
		}
		r.options, r.init = nil, nil
	}
	return err
}

// multiDo is the job of a Do.
type multiDo struct {
	results
	entries []*Result
}

var _ job = (*multiDo)(nil)

func (m *multiDo) key(entry int) string { return m.entries[entry].item.Key }

func (m *multiDo) ask(f *fanout, o *op, entries []int) (n int, err error) {
	r := m.entries[entries[0]]
	o.begin(r.verb, r.item.Key)
	o.wire = f.wire(entries[0])
	switch r.verb {
	case verbGet, verbDelete:
	case verbTouch:
		o.exptime, err = exptime(r.item.TTL)
	case verbIncrement, verbDecrement:
		if o.delta = r.delta; r.init != nil {
			o.create, o.initial = true, r.init.Value
			o.exptime, err = exptime(r.init.TTL)
		}
	default:
		err = o.carry(&r.item)
	}
	switch {
	case err != nil:
	case r.err != nil:
		err = r.err // of the options
	case r.options != nil:
		if err = r.options.apply(&o.request); o.extras != nil {
			o.extras.single = true // a second one would come behind the entries that follow
		}
	}
	return 1, err
}

func (m *multiDo) settled(srv *server, o *op, entries []int) int {
	if !o.answered() {
		return 0
	}
	r := m.entries[entries[0]]
	err := o.answer(srv)
	switch {
	case r.verb == verbGet && (err == nil || o.status == reader.Unchanged):
		if r.item = o.found.item(o.key, o.dst); o.asks()&reader.WantTTL != 0 {
			r.item.Info = o.told(r.options.(*GetOptions))
		}
	case err != nil:
	case r.verb == verbIncrement, r.verb == verbDecrement:
		r.count, err = o.count(srv)
	}
	if t, ok := r.options.(interface{ tell(*op) }); ok && err == nil {
		t.tell(o)
	}
	m.set(entries[0], err)
	return 1
}

func (m *multiDo) fail(srv *server, entries []int, err error, outcome Outcome) bool {
	for i, entry := range entries {
		m.results.fail(m.entries[entry].verb, srv, entries[i:i+1], err, outcome)
	}
	return true
}
