package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/memring/memring/reader"
)

// Set stores it, whatever was there before; it.CAS is not looked at. The Value is
// the caller's own again when the call has returned.
//
// If the call fails after the request was sent, the item may have been stored
// or not: see [OpError] and [SafeToRetry]. This holds for every call that
// changes something. [StoreOptions] ask for more, of this and the other stores.
func (cl *Client) Set(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbSet, it, opts)
}

// Add stores it if its key has no item, else it returns [ErrNotStored].
func (cl *Client) Add(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbAdd, it, opts)
}

// Replace stores it if its key has an item, else it returns [ErrNotStored].
func (cl *Client) Replace(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbReplace, it, opts)
}

// Append adds it.Value behind the value that is there, or returns
// [ErrNotStored] if there is none. Flags and TTL of the stored item stay.
func (cl *Client) Append(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbAppend, it, opts)
}

// Prepend adds it.Value in front of the value that is there, or returns
// [ErrNotStored] if there is none. Flags and TTL of the stored item stay.
func (cl *Client) Prepend(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbPrepend, it, opts)
}

// CompareAndSwap stores it if the item under its key still has the version
// it.CAS, as a Get returned it. Its TTL is set anew like any other store's: a Get
// does not return it, so give it again. Otherwise it returns [ErrConflict], or
// [ErrNotFound] if there is no item any more.
func (cl *Client) CompareAndSwap(ctx context.Context, it Item, opts ...StoreOptions) error {
	return cl.store(ctx, verbCompareAndSwap, it, opts)
}

func (cl *Client) store(ctx context.Context, v verb, it Item, opts []StoreOptions) error {
	o, srv, err := cl.takeKeyed(ctx, v, it.Key)
	if err != nil {
		return err
	}
	if err := o.carry(&it); err != nil {
		return o.refuse(err)
	}
	if len(opts) > 0 {
		return cl.storeWith(ctx, srv, o, opts)
	}
	return cl.finish(ctx, srv, o)
}

// carry has o, a store, carry an item, or says why it cannot.
func (o *op) carry(it *Item) (err error) {
	switch {
	case len(it.Value) > MaxValueLen:
		err = fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, len(it.Value), MaxValueLen)
	case o.verb == verbCompareAndSwap && it.CAS == 0:
		err = fmt.Errorf("%w: CompareAndSwap needs the CAS of an item that Get has returned", ErrArgument)
	default:
		o.exptime, err = exptime(it.TTL)
	}
	o.value, o.flags, o.cas = it.Value, it.Flags, it.CAS
	return err
}

// storeWith is the rest of a store with options.
func (cl *Client) storeWith(ctx context.Context, srv *server, o *op, opts []StoreOptions) error {
	s, err := one(opts)
	if err == nil {
		err = s.apply(&o.request)
	}
	if err != nil {
		return o.refuse(err)
	}
	if s.Create {
		err = cl.join(ctx, srv, o)
	} else {
		err = cl.do(ctx, cl.deadline(ctx), srv, o)
	}
	if err != nil {
		return err
	}
	if o.status == reader.OK {
		s.tell(o)
	}
	return o.finish(srv)
}

// join carries out an append or prepend that makes an item if there is none. If the
// server does not know how, an append is followed by an add if there was nothing to
// append to, and that by another append if somebody has stored an item in between.
func (cl *Client) join(ctx context.Context, srv *server, o *op) error {
	deadline := cl.deadline(ctx)
	for round := range maxRounds {
		if round > 0 {
			o.retry(false)
		}
		if err := cl.do(ctx, deadline, srv, o); err != nil {
			return partly(err, round > 0)
		}
		if o.create || o.status != reader.NotStored {
			return nil
		}
		o.retry(true)
		if err := cl.do(ctx, deadline, srv, o); err != nil {
			return partly(err, true)
		}
		if o.status != reader.NotStored {
			return nil
		}
	}
	return nil // not stored, as the last round has found
}

// retry makes an append whose reply has come ready to be sent again, as an add or as
// itself.
func (o *op) retry(add bool) {
	o.state, o.status, o.err = opPending, 0, nil
	o.extras.adds = add
}

// Increment adds delta to the decimal number stored under key and returns the
// sum, which wraps around at 2^64. If there is no item, it stores and returns
// init.Value; without init it returns [ErrNotFound]. [CounterOptions] ask for more.
func (cl *Client) Increment(ctx context.Context, key string, delta uint64, init *Counter, opts ...CounterOptions) (uint64, error) {
	return cl.arithmetic(ctx, verbIncrement, key, delta, init, opts)
}

// Decrement subtracts delta from the decimal number stored under key, down to
// 0, and returns the difference. If there is no item, it stores and returns
// init.Value; without init it returns [ErrNotFound]. [CounterOptions] ask for more.
func (cl *Client) Decrement(ctx context.Context, key string, delta uint64, init *Counter, opts ...CounterOptions) (uint64, error) {
	return cl.arithmetic(ctx, verbDecrement, key, delta, init, opts)
}

func (cl *Client) arithmetic(ctx context.Context, v verb, key string, delta uint64, init *Counter, opts []CounterOptions) (uint64, error) {
	o, srv, err := cl.takeKeyed(ctx, v, key)
	if err != nil {
		return 0, err
	}
	o.delta = delta
	if init != nil {
		o.create, o.initial = true, init.Value
		if o.exptime, err = exptime(init.TTL); err != nil {
			return 0, o.refuse(err)
		}
	}
	c, err := one(opts)
	if err == nil && len(opts) > 0 {
		err = c.apply(&o.request)
	}
	if err != nil {
		return 0, o.refuse(err)
	}
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return 0, err
	}
	n, bad := o.count(srv)
	if o.status == reader.OK && bad == nil {
		c.tell(o)
	}
	if err := o.finish(srv); err != nil {
		return 0, err
	}
	return n, bad
}

// count reads the number that an arithmetic op was answered. A decrement that shortens
// it leaves spaces behind it (protocol.txt, "Increment/Decrement").
func (o *op) count(srv *server) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimRight(string(o.dst), " "), 10, 64)
	if err != nil {
		return 0, &OpError{Op: o.verb.String(), Server: srv.name, Err: fmt.Errorf("%w: the reply is no number", ErrServer)}
	}
	return n, nil
}
