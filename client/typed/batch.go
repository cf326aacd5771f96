package typed

import (
	"context"
	"errors"

	"github.com/memring/memring/client"
)

// SetMulti stores many items, as [client.Client.SetMulti] does. An item that cannot be
// encoded has its [EncodeError] in the [client.BatchError], and costs no other one
// anything. All encodings are in memory at one time.
func (c *Cache[T]) SetMulti(ctx context.Context, items []Item[T], opts ...client.StoreOptions) error {
	var (
		packed = make([]client.Item, 0, len(items))
		number = make([]int, 0, len(items)) // that each of them has in items
		errs   []error
	)
	for i, it := range items {
		p, err := c.pack(new(buffer), it)
		if err != nil {
			if errs == nil {
				errs = make([]error, len(items))
			}
			errs[i] = err
			continue
		}
		packed, number = append(packed, p), append(number, i)
	}
	err := c.client.SetMulti(ctx, packed, opts...)
	if errs == nil {
		return err
	}
	all := &client.BatchError{Op: "set multi", Errs: errs}
	if batch, ok := errors.AsType[*client.BatchError](err); ok {
		for i, err := range batch.Errs {
			errs[number[i]] = err
		}
	} else if err != nil {
		return err // the call as a whole was refused
	}
	return all
}

// DeleteMulti drops the items stored under many keys, see [client.Client.DeleteMulti].
func (c *Cache[T]) DeleteMulti(ctx context.Context, keys []string, opts ...client.DeleteOptions) error {
	return c.client.DeleteMulti(ctx, keys, opts...)
}
