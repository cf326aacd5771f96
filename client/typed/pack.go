package typed

import (
	"errors"

	"github.com/memring/memring/client"
)

// pack encodes an item, into b if it doesn't find the encoding where it is. The
// result is good while b is.
func (c *Cache[T]) pack(b *buffer, it Item[T]) (client.Item, error) {
	out := it.bare()
	if it.Flags&c.mask != 0 {
		return out, &EncodeError{Key: it.Key, Reason: errFlags}
	}
	if c.raw != nil {
		out.Value = c.raw.View(it.Value)
	} else {
		plain, err := c.codec.Append(b.plain[:0], it.Value)
		if err != nil {
			return out, &EncodeError{Key: it.Key, Reason: ErrCodec, Err: err}
		}
		b.plain, out.Value = kept(b.plain, plain), plain
	}
	if n := len(out.Value); c.write == nil || n < c.from || n > c.limit {
		return out, nil
	}
	packed, err := c.write.Append(b.packed[:0], out.Value)
	if err != nil {
		return out, &EncodeError{Key: it.Key, Reason: ErrCompressor, Err: err}
	}
	b.packed = kept(b.packed, packed)
	if len(packed) < len(out.Value) {
		out.Value, out.Flags = packed, out.Flags|c.mark(c.write)
	}
	return out, nil
}

// unpack decodes an item, whose Value's memory becomes the value's own if it is
// owned, and else is only read.
func (c *Cache[T]) unpack(it client.Item, owned bool) (Item[T], error) {
	out := c.valueless(it)
	data := it.Value
	if len(data) == 0 && it.State&(client.Won|client.Claimed) != 0 {
		return out, client.ErrNotFound // a place for an item
	}
	var b *buffer
	if id := c.marked(it.Flags); id != 0 {
		z := c.reader(id)
		if z == nil {
			return c.undecodable(it, ErrUnknownCompression, nil)
		}
		var dst []byte
		if owned = c.raw != nil; !owned {
			b = takeBuffer()
			defer b.put()
			dst = b.plain[:0]
		}
		plain, err := z.Decode(dst, data, c.limit)
		switch {
		case errors.Is(err, ErrDecodedSize):
			return c.undecodable(it, ErrDecodedSize, err)
		case err != nil:
			return c.undecodable(it, ErrCorrupt, err)
		case len(plain) > c.limit: // not every compressor is ours
			return c.undecodable(it, ErrDecodedSize, nil)
		}
		data = plain
		if b != nil {
			b.plain = kept(b.plain, plain)
		}
	}
	var err error
	if owned {
		out.Value, err = c.raw.Adopt(data)
	} else {
		out.Value, err = c.codec.Decode(data)
	}
	if err != nil {
		return c.undecodable(it, ErrCodec, err)
	}
	return out, nil
}

// valueless is all of an item but its value.
func (c *Cache[T]) valueless(it client.Item) Item[T] {
	return Item[T]{Key: it.Key, Flags: it.Flags &^ c.mask, TTL: it.TTL, State: it.State, Info: it.Info, CAS: it.CAS}
}

func (c *Cache[T]) undecodable(it client.Item, reason, err error) (Item[T], error) {
	c.failed.Add(1)
	return Item[T]{}, &DecodeError{Key: it.Key, Flags: it.Flags, CAS: it.CAS, Reason: reason, Err: err, miss: c.miss}
}
