package client

import (
	"context"
	"time"
)

// Get returns the item stored under key, or [ErrNotFound]. Its Value is the
// caller's own. [GetOptions] ask for more.
//
// Every call ends at the context's deadline or after Config.OpTimeout,
// whichever comes first, or when the context is cancelled. The connection stays
// open then and the late reply is thrown away.
func (cl *Client) Get(ctx context.Context, key string, opts ...GetOptions) (Item, error) {
	o, srv, err := cl.takeGet(ctx, key, opts)
	if err != nil {
		return Item{}, err
	}
	return cl.item(ctx, srv, o)
}

// takeGet is takeKeyed for a get with options.
func (cl *Client) takeGet(ctx context.Context, key string, opts []GetOptions) (*op, *server, error) {
	o, srv, err := cl.takeKeyed(ctx, verbGet, key)
	if err != nil || len(opts) == 0 {
		return o, srv, err
	}
	g, err := one(opts)
	if err == nil {
		o.extra, err = g.appendFlags(o.extra)
	}
	if err != nil {
		return nil, nil, o.refuse(err)
	}
	return o, srv, nil
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
	return cl.item(ctx, srv, o)
}

// item carries a get out.
func (cl *Client) item(ctx context.Context, srv *server, o *op) (Item, error) {
	key := o.key
	if err := cl.do(ctx, srv, o); err != nil {
		return Item{}, err
	}
	it := o.item
	it.Key, it.Value = key, o.dst
	if err := o.finish(srv); err != nil {
		return Item{}, err
	}
	return it, nil
}

// GetAppend appends the value stored under key to dst and returns the extended
// slice. It allocates nothing if dst has room. The Item has everything but the
// Value. If the call fails, dst is returned as it was; what lies between its
// length and its capacity may have been written to. dst must not be used by
// anyone else until the call has returned, and is not touched after that, not
// even by a late reply.
func (cl *Client) GetAppend(ctx context.Context, dst []byte, key string, opts ...GetOptions) ([]byte, Item, error) {
	o, srv, err := cl.takeGet(ctx, key, opts)
	if err != nil {
		return dst, Item{}, err
	}
	o.dst = dst
	if err := cl.do(ctx, srv, o); err != nil {
		return dst, Item{}, err
	}
	out, it := o.dst, o.item
	it.Key = key
	if err := o.finish(srv); err != nil {
		return dst, Item{}, err
	}
	return out, it, nil
}

// Touch sets the TTL of the item stored under key anew. [ErrNotFound] says that
// there is none.
func (cl *Client) Touch(ctx context.Context, key string, ttl time.Duration) error {
	o, srv, err := cl.takeKeyed(ctx, verbTouch, key)
	if err != nil {
		return err
	}
	if o.exptime, err = exptime(ttl); err != nil {
		return o.refuse(err)
	}
	return cl.finish(ctx, srv, o)
}

// Delete drops the item stored under key. [ErrNotFound] says that there was
// none.
func (cl *Client) Delete(ctx context.Context, key string) error {
	o, srv, err := cl.takeKeyed(ctx, verbDelete, key)
	if err != nil {
		return err
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
