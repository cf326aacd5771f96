package typed

import (
	"context"
	"time"

	"github.com/memring/memring/client"
)

// Set stores it, whatever was there before; it.CAS is not looked at. The Value is
// not referred to any more when the call has returned.
func (c *Cache[T]) Set(ctx context.Context, it Item[T], opts ...client.StoreOptions) error {
	return c.store(ctx, it, opts, (*client.Client).Set)
}

// Add stores it if its key has no item, else it returns [client.ErrNotStored].
func (c *Cache[T]) Add(ctx context.Context, it Item[T], opts ...client.StoreOptions) error {
	return c.store(ctx, it, opts, (*client.Client).Add)
}

// Replace stores it if its key has an item, else it returns [client.ErrNotStored].
func (c *Cache[T]) Replace(ctx context.Context, it Item[T], opts ...client.StoreOptions) error {
	return c.store(ctx, it, opts, (*client.Client).Replace)
}

// CompareAndSwap stores it if the item has not changed since it.CAS was read, else
// it returns [client.ErrConflict], and [client.ErrNotFound] if there is none.
func (c *Cache[T]) CompareAndSwap(ctx context.Context, it Item[T], opts ...client.StoreOptions) error {
	return c.store(ctx, it, opts, (*client.Client).CompareAndSwap)
}

func (c *Cache[T]) store(ctx context.Context, it Item[T], opts []client.StoreOptions,
	how func(*client.Client, context.Context, client.Item, ...client.StoreOptions) error,
) error {
	b := takeBuffer()
	defer b.put() // the client does not touch the memory any more once the call has returned
	packed, err := c.pack(b, it)
	if err != nil {
		return err
	}
	return how(c.client, ctx, packed, opts...)
}

// Delete drops the item stored under key. [client.ErrNotFound] says that there was
// none.
func (c *Cache[T]) Delete(ctx context.Context, key string, opts ...client.DeleteOptions) error {
	return c.client.Delete(ctx, key, opts...)
}

// Touch sets the TTL of the item stored under key anew. [client.ErrNotFound] says
// that there is none.
func (c *Cache[T]) Touch(ctx context.Context, key string, ttl time.Duration) error {
	return c.client.Touch(ctx, key, ttl)
}

// Encode returns what Set would store, in memory of its own, or an [EncodeError]. It
// is for the calls of package client that a Cache does not have.
func (c *Cache[T]) Encode(it Item[T]) (client.Item, error) {
	b := takeBuffer()
	defer b.put()
	packed, err := c.pack(b, it)
	if err != nil {
		return client.Item{}, err
	}
	packed.Value = append([]byte{}, packed.Value...)
	return packed, nil
}

// Decode returns what Get would if it had got it, or a [DecodeError]. it.Value is
// only read, and nothing that is returned refers to it.
func (c *Cache[T]) Decode(it client.Item) (Item[T], error) { return c.unpack(it, false) }
