package typed

import (
	"context"
	"errors"

	"github.com/memring/memring/client"
)

// GetOrLoad returns the item stored under key. If there is none, it calls load,
// stores what that returns, and returns it; see [client.Client.GetOrLoad], which
// says who loads and who waits, and what becomes of the errors of load. Of the Item
// that load returns, Value, Flags and TTL count. Each caller gets a value of its own,
// decoded from what was stored, or was to be.
//
// A value that is there and cannot be decoded is a [DecodeError]. With
// Config.UndecodableIsMiss it is deleted instead, unless the item has changed meanwhile,
// and loaded anew; LoadOptions.Notify is told if it cannot be deleted. If what is there
// then cannot be decoded either, that is the DecodeError, and so it is if what load
// returned cannot be. What cannot be encoded is an error of load, an [EncodeError].
func (c *Cache[T]) GetOrLoad(ctx context.Context, key string, load func(context.Context) (Item[T], error), opts client.LoadOptions) (Item[T], error) {
	encoded := func(ctx context.Context) (client.Item, error) {
		it, err := load(ctx)
		if err != nil {
			return client.Item{}, err
		}
		it.Key = key
		return c.Encode(it)
	}
	if load == nil {
		encoded = nil // to be refused
	}
	for again := false; ; again = true {
		it, err := c.client.GetOrLoad(ctx, key, encoded, opts)
		if err != nil {
			return Item[T]{}, err
		}
		it.State &^= client.Won | client.Claimed // it is no place for an item: those are never returned
		out, err := c.unpack(it, c.raw != nil)
		if !passedOver(err) || again || it.CAS == 0 {
			return out, err
		}
		err = c.client.Delete(ctx, key, client.DeleteOptions{IfCAS: it.CAS})
		if err != nil && opts.Notify != nil && !errors.Is(err, client.ErrConflict) && !errors.Is(err, client.ErrNotFound) {
			opts.Notify(err)
		}
	}
}
