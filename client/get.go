package client

import (
	"context"
	"time"

	"github.com/memring/memring/reader"
)

// Get returns the item stored under key, or [ErrNotFound]. Its Value is the
// caller's own. [GetOptions] ask for more; with [ErrNotModified] comes the Item, too.
//
// Every call ends at the context's deadline or after Config.OpTimeout,
// whichever comes first, or when the context is cancelled. The connection stays
// open then and the late reply is thrown away.
func (cl *Client) Get(ctx context.Context, key string, opts ...GetOptions) (Item, error) {
	o, srv, err := cl.get(ctx, verbGet, key, nil, false, opts)
	if err != nil {
		return Item{}, err
	}
	return o.result(srv, opts)
}

// Inspect returns what the server knows of the item stored under key but for its
// Value, with Item.Info, or [ErrNotFound]. It is no use of the item, unless
// GetOptions.Bump says so.
func (cl *Client) Inspect(ctx context.Context, key string, opts ...GetOptions) (Item, error) {
	if len(opts) == 0 {
		opts = inspection
	}
	o, srv, err := cl.get(ctx, verbInspect, key, nil, false, opts)
	if err != nil {
		return Item{}, err
	}
	return o.result(srv, opts)
}

// inspection is what an Inspect asks for.
var inspection = []GetOptions{{Info: true}}

// get carries out a get of one key, whose value is appended to dst or lent. If it
// returns no error, o holds the result.
func (cl *Client) get(ctx context.Context, v verb, key string, dst []byte, lend bool, opts []GetOptions) (*op, *server, error) {
	o, srv, err := cl.takeKeyed(ctx, v, key)
	if err != nil {
		return nil, nil, err
	}
	o.dst, o.leases = dst, lend
	if len(opts) > 0 {
		return o, srv, cl.getWith(ctx, srv, o, opts)
	}
	return o, srv, cl.do(ctx, cl.deadline(ctx), srv, o)
}

// getWith is the rest of a get with options.
func (cl *Client) getWith(ctx context.Context, srv *server, o *op, opts []GetOptions) error {
	g, err := one(opts)
	if err == nil {
		err = g.apply(&o.request)
	}
	switch {
	case err != nil:
		return o.refuse(err)
	case g.UnlessCAS != 0:
		return cl.getUnless(ctx, srv, o, &opts[0])
	}
	return cl.do(ctx, cl.deadline(ctx), srv, o)
}

// result makes an Item of a get's reply, and puts o back. What is unchanged has one,
// too.
func (o *op) result(srv *server, opts []GetOptions) (Item, error) {
	if o.status != reader.OK && o.status != reader.Unchanged {
		return Item{}, o.finish(srv)
	}
	it := o.found.item(o.key, o.dst)
	if o.asks()&reader.WantTTL != 0 {
		it.Info = o.told(&opts[0])
	}
	return it, o.finish(srv)
}

// GetAndTouch returns the item stored under key and sets its TTL anew.
func (cl *Client) GetAndTouch(ctx context.Context, key string, ttl time.Duration) (Item, error) {
	o, srv, err := cl.takeKeyed(ctx, verbGetAndTouch, key)
	if err != nil {
		return Item{}, err
	}
	if o.exptime, err = exptime(ttl); err != nil {
		return Item{}, o.refuse(err)
	}
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return Item{}, err
	}
	return o.result(srv, nil)
}

// GetAppend appends the value stored under key to dst and returns the extended
// slice. It allocates nothing if dst has room. The Item has everything but the
// Value. If the call fails, dst is returned as it was; what lies between its
// length and its capacity may have been written to. dst must not be used by
// anyone else until the call has returned, and is not touched after that, not
// even by a late reply.
func (cl *Client) GetAppend(ctx context.Context, dst []byte, key string, opts ...GetOptions) ([]byte, Item, error) {
	o, srv, err := cl.get(ctx, verbGet, key, dst, false, opts)
	if err != nil {
		return dst, Item{}, err
	}
	it, err := o.result(srv, opts)
	out := it.Value
	it.Value = nil
	if err != nil {
		return dst, it, err
	}
	return out, it, nil
}

// Touch sets the TTL of the item stored under key anew. [ErrNotFound] says that
// there is none. Hints, at most one set of them, go to a proxy.
func (cl *Client) Touch(ctx context.Context, key string, ttl time.Duration, hints ...Hints) error {
	o, srv, err := cl.takeKeyed(ctx, verbTouch, key)
	if err != nil {
		return err
	}
	h, err := one(hints)
	if err == nil {
		err = h.apply(&o.request)
	}
	if err == nil {
		o.exptime, err = exptime(ttl)
	}
	if err != nil {
		return o.refuse(err)
	}
	return cl.finish(ctx, srv, o)
}

// Delete drops the item stored under key. [ErrNotFound] says that there was
// none. [DeleteOptions] ask for more: to leave it there as a stale one, or without its
// value.
func (cl *Client) Delete(ctx context.Context, key string, opts ...DeleteOptions) error {
	o, srv, err := cl.takeKeyed(ctx, verbDelete, key)
	if err != nil {
		return err
	}
	if len(opts) > 0 {
		d, err := one(opts)
		if err == nil {
			err = d.apply(&o.request)
		}
		if err != nil {
			return o.refuse(err)
		}
	}
	return cl.finish(ctx, srv, o)
}

// finish carries out an operation whose reply is only a status.
func (cl *Client) finish(ctx context.Context, srv *server, o *op) error {
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return err
	}
	return o.finish(srv)
}
