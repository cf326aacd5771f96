package memcache

import (
	"errors"
	"net"
	"slices"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/internal/direct"
)

// maxKeyLen is the longest key that memcached takes, in bytes.
const maxKeyLen = client.MaxKeyLen

// legalKey reports whether the protocol can carry key.
func legalKey(key string) bool {
	if key == "" || len(key) > maxKeyLen {
		return false
	}
	for i := 0; i < len(key); i++ {
		if key[i] <= ' ' || key[i] == 0x7f {
			return false
		}
	}
	return true
}

// Get returns the item stored under key, or [ErrCacheMiss]. Its Value is the
// caller's own.
func (c *Client) Get(key string) (*Item, error) {
	return c.item(direct.Request{Verb: direct.Get, Key: key})
}

// GetAndTouch returns the item stored under key, or [ErrCacheMiss], and sets its
// Expiration anew.
func (c *Client) GetAndTouch(key string, expiration int32) (*Item, error) {
	return c.item(direct.Request{Verb: direct.GetAndTouch, Key: key, Exptime: int64(expiration)})
}

// Touch sets the Expiration of the item stored under key anew; see [Item].
// [ErrCacheMiss] says that there is none.
func (c *Client) Touch(key string, seconds int32) error {
	_, err := c.keyed(direct.Request{Verb: direct.Touch, Key: key, Exptime: int64(seconds)})
	return err
}

// Delete drops the item stored under key. [ErrCacheMiss] says that there was
// none.
func (c *Client) Delete(key string) error {
	_, err := c.keyed(direct.Request{Verb: direct.Delete, Key: key})
	return err
}

func (c *Client) item(r direct.Request) (*Item, error) {
	reply, err := c.keyed(r)
	if err != nil {
		return nil, err
	}
	return itemOf(r.Key, reply), nil
}

func itemOf(key string, r direct.Reply) *Item {
	return &Item{Key: key, Value: r.Value, Flags: r.Flags, CasID: r.CAS}
}

// keyed carries r out on its key's server.
func (c *Client) keyed(r direct.Request) (direct.Reply, error) {
	if !legalKey(r.Key) {
		return direct.Reply{}, ErrMalformedKey
	}
	addr, err := c.selector.PickServer(r.Key)
	if err != nil {
		return direct.Reply{}, err
	}
	return c.do(addr, r)
}

// do carries r out on the server at addr.
func (c *Client) do(addr net.Addr, r direct.Request) (direct.Reply, error) {
	f, i, err := c.acquire(addr)
	if err != nil {
		return direct.Reply{}, err
	}
	defer f.release()
	r.Server = i
	reply, err := direct.Do(f.cl, r)
	if err != nil {
		return direct.Reply{}, failure(err, addr)
	}
	return reply, nil
}

// GetMulti asks for many keys at once, all servers at the same time, and returns
// the items that there are, by key. If a server fails the others' items are
// returned beside the error; of several errors it is one. An invalid key, or one
// that the selector has no server for, fails the call before anything is sent,
// and the map is nil.
func (c *Client) GetMulti(keys []string) (map[string]*Item, error) {
	addrs := make([]net.Addr, len(keys))
	for i, key := range keys {
		if !legalKey(key) {
			return nil, ErrMalformedKey
		}
		var err error
		if addrs[i], err = c.selector.PickServer(key); err != nil {
			return nil, err
		}
	}
	items := make(map[string]*Item, len(keys))
	if len(keys) == 0 {
		return items, nil
	}
	f, servers, err := c.acquireAll(addrs)
	if err != nil {
		return items, err
	}
	defer f.release()
	var failed error
	direct.GetMulti(f.cl, keys, servers,
		func(key string, r direct.Reply) { items[key] = itemOf(key, r) },
		func(err error) { failed = multiFailure(err, keys, addrs) })
	return items, failed
}

// multiFailure is failure for a GetMulti, whose error names the keys that it
// concerns: all of one server.
func multiFailure(err error, keys []string, addrs []net.Addr) error {
	var op *client.OpError
	if errors.As(err, &op) && len(op.Keys) > 0 {
		if i := slices.Index(keys, op.Keys[0]); i >= 0 {
			return failure(err, addrs[i])
		}
	}
	return failure(err, addrs[0])
}
