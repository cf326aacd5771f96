package peers

import (
	"context"
	"fmt"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/client"
)

// memring shares its connections among all callers, as any user of it does.
type memring struct {
	*client.Client
	plain bool // without registered buffers, by intent
}

func openMemring(cfg Config) (Client, error) {
	server := cfg.Addr
	if cfg.Network == "unix" {
		server = "unix:" + cfg.Addr
	}
	direct := directOf(cfg.Client)
	open := func() (*client.Client, error) {
		return client.New([]string{server}, &client.Config{
			Engine: engineOf(cfg.Client), Rings: cfg.Rings, ConnsPerServer: cfg.Conns, OpTimeout: cfg.Deadline,
			DirectSend: direct, DirectReceive: direct,
		})
	}
	plain := cfg.Client == cases.URingPlain
	if plain {
		open = unregistered(open)
	}
	c, err := open()
	if err != nil {
		return nil, &UnavailableError{err.Error()}
	}
	return memring{c, plain}, nil
}

func engineOf(c cases.Client) client.EngineKind {
	if c == cases.Poll {
		return client.Poll
	}
	return client.URing
}

// directOf is from which size on values are not copied; zero leaves it to the client.
func directOf(c cases.Client) int {
	switch c {
	case cases.URingCopy:
		return -1
	case cases.URingRef:
		return 1
	}
	return 0
}

func (m memring) Get(key string) ([]byte, error) {
	item, err := m.Client.Get(context.Background(), key)
	return item.Value, err
}

func (m memring) GetAppend(dst []byte, key string) ([]byte, error) {
	dst, _, err := m.Client.GetAppend(context.Background(), dst, key)
	return dst, err
}

func (m memring) Set(key string, value []byte) error {
	return m.Client.Set(context.Background(), client.Item{Key: key, Value: value})
}

// SetMulti and DeleteMulti make their lists anew for each call, as who has items to store does.
func (m memring) SetMulti(keys []string, values [][]byte) error {
	items := make([]client.Item, len(keys))
	for i := range items {
		items[i] = client.Item{Key: keys[i], Value: values[i]}
	}
	return m.Client.SetMulti(context.Background(), items)
}

func (m memring) DeleteMulti(keys []string) error {
	return client.Except(m.Client.DeleteMulti(context.Background(), keys), client.ErrNotFound)
}

func (m memring) Delete(key string) error {
	return client.Except(m.Client.Delete(context.Background(), key), client.ErrNotFound)
}

func (m memring) GetMulti(keys []string, right func(string, []byte) bool) error {
	got := 0
	for item, err := range m.Client.GetMulti(context.Background(), keys) {
		if err != nil {
			return err
		}
		if !right(item.Key, item.Value) {
			return &WrongValueError{"memring", item.Key}
		}
		got++
	}
	return all(got, keys)
}

func all(got int, keys []string) error {
	if got != len(keys) {
		return fmt.Errorf("memring returned %d of %d keys", got, len(keys))
	}
	return nil
}

func (m memring) GetLease(key string, right func(string, []byte) bool) error {
	l, err := m.Client.GetLease(context.Background(), key)
	if err != nil {
		return err
	}
	return checked(l, right)
}

func (m memring) GetMultiLease(keys []string, right func(string, []byte) bool) error {
	got := 0
	for l, err := range m.Client.GetMultiLease(context.Background(), keys) {
		if err != nil {
			return err
		}
		if err := checked(l, right); err != nil {
			return err
		}
		got++
	}
	return all(got, keys)
}

// checked looks at a lease and gives it back.
func checked(l client.Lease, right func(string, []byte) bool) error {
	ok := right(l.Key, l.Value)
	if err := l.Release(); err != nil {
		return err
	}
	if !ok {
		return &WrongValueError{"memring", l.Key}
	}
	return nil
}

// Enters is the engine's own count: of io_uring_enter, or of reads and writes.
func (m memring) Enters() uint64 { return m.Counters().Enters }

func (m memring) Degraded() string {
	if name, reason := m.Engine(); name == client.EngineURing && reason != nil && !m.plain {
		return reason.Error()
	}
	return ""
}
