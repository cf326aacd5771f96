package peers

import (
	"errors"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/limit"
	"github.com/memring/memring/bench/internal/queue"
)

// HandOverer is no client, but the part of one that callers meet in.
type HandOverer interface{ HandOver() }

// noStore is what can't do the operations of a client.
type noStore struct{}

func (noStore) Get(string) ([]byte, error)                         { return nil, errors.ErrUnsupported }
func (noStore) Set(string, []byte) error                           { return errors.ErrUnsupported }
func (noStore) GetMulti([]string, func(string, []byte) bool) error { return errors.ErrUnsupported }

// bare is one of package limit.
type bare struct {
	noStore
	getter
}

type getter interface {
	Appender
	Close() error
}

func openBare(cfg Config) (Client, error) {
	if cfg.Network != "unix" || cfg.Callers != 1 {
		return nil, errors.New("the bare loops are for one caller over a UNIX socket")
	}
	if cfg.Client == cases.BareReadWrite {
		c, err := limit.OpenReadWrite(cfg.Addr)
		return bare{getter: c}, err
	}
	c, err := limit.OpenRing(cfg.Addr)
	if err != nil {
		return nil, &UnavailableError{err.Error()}
	}
	return bare{getter: c}, nil
}

// handOver is one of package queue.
type handOver struct {
	noStore
	queue.Queue
}

func (h handOver) Close() error {
	h.Queue.Close()
	return nil
}

func openHandOver(c cases.Client) Client {
	switch c {
	case cases.HandOverChannel:
		return handOver{Queue: queue.NewChannel()}
	case cases.HandOverCond:
		return handOver{Queue: queue.NewCond()}
	}
	return handOver{Queue: queue.NewHerd()}
}
