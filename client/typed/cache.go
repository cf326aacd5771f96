package typed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

// Cache is a client's view of the items whose values are of type T. It has no
// connections and no goroutines of its own, nothing to be closed, and is used by many
// goroutines at once. Several of one client, of whatever types, do not disturb each
// other as long as their keys differ.
//
// Its methods end, and fail, as those of the same names of [client.Client] do, and
// besides with a [DecodeError] or an [EncodeError].
type Cache[T any] struct {
	client *client.Client
	codec  Codec[T]
	raw    Raw[T] // codec, if it is one; else nil
	owns   bool   // values are got in memory of their own
	failed atomic.Uint64
	packing
}

// Of returns a cache of T with the defaults of [Config]. It panics if there is no
// codec.
func Of[T any](c *client.Client, codec Codec[T]) *Cache[T] {
	cache, err := New(c, codec, nil)
	if err != nil {
		panic("memring: typed.Of: " + err.Error())
	}
	return cache
}

// New returns a cache of T, or an error that matches [client.ErrConfig].
func New[T any](c *client.Client, codec Codec[T], cfg *Config) (*Cache[T], error) {
	if codec == nil {
		return nil, fmt.Errorf("%w: there is no codec", client.ErrConfig)
	}
	p, err := cfg.packing()
	if err != nil {
		return nil, err
	}
	cache := &Cache[T]{client: c, codec: codec, packing: p}
	cache.raw, _ = codec.(Raw[T])
	// If most values are compressed, it is what they are decompressed to that they
	// own, and a lease is the cheaper way there.
	cache.owns = cache.raw != nil && p.write == nil
	return cache, nil
}

// Client returns the client that New was given.
func (c *Cache[T]) Client() *client.Client { return c.client }

// Undecodable returns how many values could not be decoded since New.
func (c *Cache[T]) Undecodable() uint64 { return c.failed.Load() }

// Get returns the item stored under key, or [client.ErrNotFound]. Options ask for
// more, as they do of [client.Client.Get]; with [client.ErrNotModified] comes the Item
// without its Value.
//
// What [client.GetOptions].Vivify has put in the place of an item has no value yet:
// Get returns ErrNotFound, for whichever caller, and an Item without value whose
// State tells who is to store it. (An empty encoding that is to be stored anew is
// taken for one.)
func (c *Cache[T]) Get(ctx context.Context, key string, opts ...client.GetOptions) (Item[T], error) {
	if c.owns {
		it, err := c.client.Get(ctx, key, opts...)
		if err != nil {
			return c.valueless(it), err
		}
		return c.unpack(it, true)
	}
	l, err := c.client.GetLease(ctx, key, opts...)
	if err != nil {
		return c.valueless(l.Item), err
	}
	return c.unpackLease(l)
}

// unpackLease decodes a lease and gives it back.
func (c *Cache[T]) unpackLease(l client.Lease) (Item[T], error) {
	it, err := c.unpack(l.Item, false)
	if e := l.Release(); e != nil {
		return Item[T]{}, e // somebody else may have had the memory
	}
	return it, err
}

// GetAndTouch returns the item stored under key and sets its TTL anew, also if its
// value cannot be decoded. It takes fresh memory for what is stored, even where Get
// does not.
func (c *Cache[T]) GetAndTouch(ctx context.Context, key string, ttl time.Duration) (Item[T], error) {
	it, err := c.client.GetAndTouch(ctx, key, ttl)
	if err != nil {
		return Item[T]{}, err
	}
	return c.unpack(it, c.raw != nil)
}

// GetMulti asks for many keys at once, see [client.Client.GetMulti]. A value that
// cannot be decoded is yielded as an empty Item and a [DecodeError], which has the
// key, and does not end the loop. With options, the place of an item, see Get, is
// yielded as one without value and ErrNotFound. Without them it is passed over if the
// codec refuses an empty encoding, as JSON does. If it takes one, as String does, the
// place is an empty value: no State is known here.
func (c *Cache[T]) GetMulti(ctx context.Context, keys []string, opts ...client.GetOptions) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		if c.owns {
			for it, err := range c.client.GetMulti(ctx, keys, opts...) {
				var out Item[T]
				if err == nil {
					if len(opts) == 0 && c.place(&it) {
						continue
					}
					out, err = c.unpack(it, true)
				}
				if !passedOver(err) && !yield(out, err) {
					return
				}
			}
			return
		}
		for l, err := range c.client.GetMultiLease(ctx, keys, opts...) {
			var out Item[T]
			if err == nil {
				if len(opts) == 0 && c.place(&l.Item) {
					_ = l.Release() // nobody else has it
					continue
				}
				out, err = c.unpackLease(l)
			}
			if !passedOver(err) && !yield(out, err) {
				return
			}
		}
	}
}

// place reports whether an item is what Vivify, or GetOrLoad, has put in the place of
// one. Of those that a plain GetMulti gets the server tells no State, but one that
// nobody can have stored with this codec is hardly anything else.
func (c *Cache[T]) place(it *client.Item) bool {
	switch {
	case len(it.Value) > 0 || it.Flags != 0:
		return false
	case it.State&(client.Won|client.Claimed) != 0:
		return true
	}
	_, err := c.codec.Decode(it.Value)
	return err != nil
}

// passedOver tells whether a GetMulti is to take err for a miss.
func passedOver(err error) bool {
	e, ok := errors.AsType[*DecodeError](err)
	return ok && e.miss
}
