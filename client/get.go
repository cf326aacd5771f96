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
	o, srv, err := cl.takeGet(ctx, verbGet, key, opts)
	if err != nil {
		return Item{}, err
	}
	if err := cl.fetch(ctx, srv, o, opts); err != nil {
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
	o, srv, err := cl.takeGet(ctx, verbInspect, key, opts)
	if err != nil {
		return Item{}, err
	}
	if err := cl.do(ctx, srv, o); err != nil {
		return Item{}, err
	}
	return o.result(srv, opts)
}

// inspection is what an Inspect asks for.
var inspection = []GetOptions{{Info: true}}

// takeGet is takeKeyed for a get with options.
func (cl *Client) takeGet(ctx context.Context, v verb, key string, opts []GetOptions) (*op, *server, error) {
	o, srv, err := cl.takeKeyed(ctx, v, key)
	if err != nil || len(opts) == 0 {
		return o, srv, err
	}
	g, err := one(opts)
	if err == nil {
		err = g.apply(&o.request)
	}
	if err != nil {
		return nil, nil, o.refuse(err)
	}
	return o, srv, nil
}

// result makes an Item of a get's reply, and puts o back. What is unchanged has one,
// too.
func (o *op) result(srv *server, opts []GetOptions) (Item, error) {
	it, hit := o.item, o.status == reader.OK || o.status == reader.Unchanged
	it.Key, it.Value = o.key, o.dst
	if hit && o.asks&reader.WantTTL != 0 {
		it.Info = o.told(&opts[0])
	}
	err := o.finish(srv)
	if !hit {
		return Item{}, err
	}
	return it, err
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
	if err := cl.do(ctx, srv, o); err != nil {
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
	o, srv, err := cl.takeGet(ctx, verbGet, key, opts)
	if err != nil {
		return dst, Item{}, err
	}
	o.dst = dst
	if err := cl.fetch(ctx, srv, o, opts); err != nil {
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
	if err := cl.do(ctx, srv, o); err != nil {
		return err
	}
	return o.finish(srv)
}
