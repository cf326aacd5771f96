package peers

import (
	"errors"
	"fmt"

	"github.com/bradfitz/gomemcache/memcache"
)

// gomemcache keeps a connection per caller. Its documentation asks for MaxIdleConns above the peak
// of parallel requests; a server with a slash is a UNIX socket.
type gomemcache struct{ *memcache.Client }

func openGomemcache(cfg Config) (Client, error) {
	var servers memcache.ServerList
	if err := servers.SetServers(cfg.Addr); err != nil {
		return nil, err
	}
	c := memcache.NewFromSelector(&servers)
	c.MaxIdleConns = cfg.Callers + 1
	c.Timeout = cfg.Deadline // its own 500 ms fail on a machine that does other work; the deadline costs the same
	return gomemcache{c}, nil
}

func (c gomemcache) Get(key string) ([]byte, error) {
	item, err := c.Client.Get(key)
	if err != nil {
		return nil, err
	}
	return item.Value, nil
}

func (c gomemcache) Set(key string, value []byte) error {
	return c.Client.Set(&memcache.Item{Key: key, Value: value})
}

func (c gomemcache) Delete(key string) error {
	if err := c.Client.Delete(key); !errors.Is(err, memcache.ErrCacheMiss) {
		return err
	}
	return nil
}

func (c gomemcache) GetMulti(keys []string, right func(string, []byte) bool) error {
	items, err := c.Client.GetMulti(keys)
	if err != nil {
		return err
	}
	if len(items) != len(keys) {
		return fmt.Errorf("gomemcache returned %d of %d keys", len(items), len(keys))
	}
	for key, item := range items {
		if !right(key, item.Value) {
			return &WrongValueError{"gomemcache", key}
		}
	}
	return nil
}
