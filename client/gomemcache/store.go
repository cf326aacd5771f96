package memcache

import "github.com/memring/memring/client/internal/direct"

// Set stores item, whatever was there before; its CasID is not looked at. The
// Value is the caller's own again when the call has returned, as with every store.
func (c *Client) Set(item *Item) error { return c.store(direct.Set, item) }

// Add stores item if its key has none, else it returns [ErrNotStored].
func (c *Client) Add(item *Item) error { return c.store(direct.Add, item) }

// Replace stores item if its key has one, else it returns [ErrNotStored].
func (c *Client) Replace(item *Item) error { return c.store(direct.Replace, item) }

// Append adds item.Value behind the value that is there, or returns
// [ErrNotStored] if there is none. Flags and Expiration of the stored item stay.
func (c *Client) Append(item *Item) error { return c.store(direct.Append, item) }

// Prepend adds item.Value in front of the value that is there, or returns
// [ErrNotStored] if there is none. Flags and Expiration of the stored item stay.
func (c *Client) Prepend(item *Item) error { return c.store(direct.Prepend, item) }

// CompareAndSwap stores item if the one under its key still has the version
// item.CasID, else it returns [ErrCASConflict], or [ErrCacheMiss] if there is
// none any more. Give the Expiration again: Get does not return it.
func (c *Client) CompareAndSwap(item *Item) error { return c.store(direct.CompareAndSwap, item) }

func (c *Client) store(verb direct.Verb, item *Item) error {
	addr, err := c.selector.PickServer(item.Key)
	if err != nil {
		return err
	}
	if !legalKey(item.Key) {
		return ErrMalformedKey
	}
	_, err = c.do(addr, direct.Request{
		Verb: verb, Key: item.Key, Value: item.Value, Flags: item.Flags,
		Exptime: int64(item.Expiration), CAS: item.CasID,
	})
	return err
}

// Increment adds delta to the decimal number stored under key and returns the
// sum, which wraps around at 2^64. [ErrCacheMiss] says that there is no item; an
// item that is no number is an error that matches [ErrServerError].
func (c *Client) Increment(key string, delta uint64) (newValue uint64, err error) {
	return c.arithmetic(direct.Increment, key, delta)
}

// Decrement subtracts delta from the decimal number stored under key, down to 0,
// and returns the difference. Its errors are Increment's.
func (c *Client) Decrement(key string, delta uint64) (newValue uint64, err error) {
	return c.arithmetic(direct.Decrement, key, delta)
}

func (c *Client) arithmetic(verb direct.Verb, key string, delta uint64) (uint64, error) {
	reply, err := c.keyed(direct.Request{Verb: verb, Key: key, Delta: delta})
	return reply.Number, err
}
