package peers

import (
	"context"
	"fmt"

	"github.com/grafana/gomemcache/memcache"
)

// grafana is Grafana's fork of gomemcache, with a connection per caller as well. Its documentation asks
// for MaxIdleConns above the peak of parallel requests. Its idle connections are closed by and by unless
// MinIdleConnsHeadroomPercentage says otherwise: negative keeps them, since a client that waits for its
// turn here is not idle in earnest.
type grafana struct{ *memcache.Client }

func openGrafana(cfg Config) (Client, error) {
	var servers memcache.ServerList
	if err := servers.SetServers(cfg.Addr); err != nil {
		return nil, err
	}
	c := memcache.NewFromSelector(&servers)
	c.MaxIdleConns = cfg.Callers + 1
	c.MinIdleConnsHeadroomPercentage = -1
	c.Timeout, c.ConnectTimeout = cfg.Deadline, cfg.Deadline
	return grafana{c}, nil
}

func (c grafana) Close() error {
	c.Client.Close()
	return nil
}

func (c grafana) Get(key string) ([]byte, error) {
	item, err := c.Client.Get(key)
	if err != nil {
		return nil, err
	}
	return item.Value, nil
}

func (c grafana) Set(key string, value []byte) error {
	return c.Client.Set(&memcache.Item{Key: key, Value: value})
}

func (c grafana) GetMulti(keys []string, right func(string, []byte) bool) error {
	items, err := c.Client.GetMulti(context.Background(), keys)
	if err != nil {
		return err
	}
	if len(items) != len(keys) {
		return fmt.Errorf("grafana's gomemcache returned %d of %d keys", len(items), len(keys))
	}
	for key, item := range items {
		if !right(key, item.Value) {
			return &WrongValueError{"grafana", key}
		}
	}
	return nil
}
