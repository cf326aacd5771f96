package peers

import (
	"errors"
	"fmt"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
)

// adapter is memring behind gomemcache's API. MaxIdleConns, which gomemcache needs, means nothing to it.
type adapter struct{ *memcache.Client }

func openAdapter(cfg Config) (Client, error) {
	var servers memcache.ServerList
	if err := servers.SetServers(cfg.Addr); err != nil {
		return nil, err
	}
	c := memcache.NewFromSelector(&servers)
	c.Timeout = cfg.Deadline
	c.Config = &client.Config{Engine: client.URing, Rings: cfg.Rings, ConnsPerServer: cfg.Conns}
	err := c.Ping() // opens the ring
	if _, answered := errors.AsType[*client.OpError](err); err != nil && !answered {
		return nil, &UnavailableError{err.Error()}
	}
	return adapter{c}, err
}

func (c adapter) Get(key string) ([]byte, error) {
	item, err := c.Client.Get(key)
	if err != nil {
		return nil, err
	}
	return item.Value, nil
}

func (c adapter) Set(key string, value []byte) error {
	return c.Client.Set(&memcache.Item{Key: key, Value: value})
}

func (c adapter) GetMulti(keys []string, right func(string, []byte) bool) error {
	items, err := c.Client.GetMulti(keys)
	if err != nil {
		return err
	}
	if len(items) != len(keys) {
		return fmt.Errorf("memring's adapter returned %d of %d keys", len(items), len(keys))
	}
	for key, item := range items {
		if !right(key, item.Value) {
			return &WrongValueError{"memring's adapter", key}
		}
	}
	return nil
}
