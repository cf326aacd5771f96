// Package peers drives each client the way its own documentation recommends, behind one interface.
package peers

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// Client is one client, used by many goroutines at once.
type Client interface {
	// Get returns the value of a key that exists.
	Get(key string) ([]byte, error)
	// Set stores a value.
	Set(key string, value []byte) error
	// GetMulti fetches keys that exist and gives each value to right, which tells whether it is.
	GetMulti(keys []string, right func(key string, value []byte) bool) error
	Close() error
}

// Appender is a client that can fetch into a slice of the caller.
type Appender interface {
	GetAppend(dst []byte, key string) ([]byte, error)
}

// Lender is a client whose values can be lent. Each is given back once right has seen it.
type Lender interface {
	GetLease(key string, right func(key string, value []byte) bool) error
	GetMultiLease(keys []string, right func(key string, value []byte) bool) error
}

// Deleter is a client that can drop an item; one that is not there is no error.
type Deleter interface {
	Delete(key string) error
}

// Batcher is a client that can store and delete many items in one call.
type Batcher interface {
	SetMulti(keys []string, values [][]byte) error
	DeleteMulti(keys []string) error
}

// Typer is a client whose values have a Go type. Prepare is called once, before the others.
type Typer interface {
	// Prepare stores a value under each key, which takes so many bytes encoded.
	Prepare(keys []string, size int) error
	// GetTyped gets the value of the i-th key and looks whether it is.
	GetTyped(i int) error
	// SetTyped stores it again.
	SetTyped(i int) error
}

// Enterer is a client that counts its own system calls.
type Enterer interface {
	Enters() uint64
}

// Degrader is a client that may run, but not at its best; it says why, or "".
type Degrader interface {
	Degraded() string
}

// Config says what to connect to and how.
type Config struct {
	Client  cases.Client
	Network string // unix or tcp
	Addr    string // a path or host:port
	Callers int
	Conns   int // connections of a pipelining client; 0: its default
	Rings   int // memring alone; 0: its default
	// Deadline of each call; 0: long enough for a machine that does other work. Every client gets the
	// same, so that each pays for its deadlines.
	Deadline time.Duration
}

// UnavailableError says that a client can't run on this machine at all.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// WrongValueError says that a client returned what was not asked for.
type WrongValueError struct{ Client, Key string }

func (e *WrongValueError) Error() string {
	return fmt.Sprintf("%s returned a wrong value for key %q", e.Client, e.Key)
}

// Open makes a client.
func Open(cfg Config) (Client, error) {
	if cfg.Deadline == 0 {
		cfg.Deadline = 5 * time.Second
	}
	switch cfg.Client {
	case cases.BareReadWrite, cases.BareRing:
		return openBare(cfg)
	case cases.HandOverHerd, cases.HandOverChannel, cases.HandOverCond:
		return openHandOver(cfg.Client), nil
	case cases.Adapter:
		return openAdapter(cfg)
	case cases.URingTypedBytes, cases.URingTypedJSON, cases.URingTypedGzip:
		return openTyped(cfg)
	}
	switch cfg.Client.Name {
	case cases.URing.Name:
		return openMemring(cfg)
	case cases.GoMemcache.Name:
		return openGomemcache(cfg)
	case cases.Grafana.Name:
		return openGrafana(cfg)
	case cases.Pipelining.Name:
		return openPipelining(cfg)
	}
	return nil, fmt.Errorf("there is no client %q", cfg.Client.Name)
}

// modules maps what is measured to where it comes from.
var modules = [][2]string{
	{cases.URing.Name, "github.com/memring/memring"},
	{cases.GoMemcache.Name, "github.com/bradfitz/gomemcache"},
	{cases.Grafana.Name, "github.com/grafana/gomemcache"},
	{cases.Pipelining.Name, "github.com/QuangTung97/go-memcache"},
}

// Versions lists the clients and the versions built in.
func Versions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var out []string
	for _, m := range modules {
		for _, dep := range info.Deps {
			if dep.Path != m[1] {
				continue
			}
			version := dep.Version
			if dep.Replace != nil {
				version = "of this checkout"
			}
			out = append(out, strings.TrimSpace(m[0]+" "+version))
		}
	}
	return out
}
