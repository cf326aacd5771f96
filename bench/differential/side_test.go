package differential

import (
	"errors"
	"net"
	"strings"
	"time"

	theirs "github.com/bradfitz/gomemcache/memcache"

	"github.com/memring/memring/client"
	ours "github.com/memring/memring/client/gomemcache"
)

// api is what both clients can do. I is Item, which each package has of its own.
type api[I any] interface {
	Get(key string) (*I, error)
	GetAndTouch(key string, expiration int32) (*I, error)
	GetMulti(keys []string) (map[string]*I, error)
	Touch(key string, seconds int32) error
	Set(*I) error
	Add(*I) error
	Replace(*I) error
	Append(*I) error
	Prepend(*I) error
	CompareAndSwap(*I) error
	Increment(key string, delta uint64) (uint64, error)
	Decrement(key string, delta uint64) (uint64, error)
	Delete(key string) error
	DeleteAll() error
	FlushAll() error
	Ping() error
	Close() error
}

var (
	_ api[theirs.Item] = (*theirs.Client)(nil)
	_ api[ours.Item]   = (*ours.Client)(nil)
)

// side is one of the two clients.
type side[I any] struct {
	api[I]
	list  interface{ SetServers(...string) error }
	give  func(ours.Item) *I
	take  func(*I) ours.Item
	class func(error) string
	seen  map[string][]*I // what Get and GetMulti have returned, for CompareAndSwap
}

func newTheirs() *side[theirs.Item] {
	list := new(theirs.ServerList)
	c := theirs.NewFromSelector(list)
	c.Timeout = patience
	return &side[theirs.Item]{
		api: c, list: list, class: theirClass, seen: map[string][]*theirs.Item{},
		give: func(i ours.Item) *theirs.Item { return (*theirs.Item)(&i) },
		take: func(i *theirs.Item) ours.Item { return ours.Item(*i) },
	}
}

func newOurs(kind client.EngineKind) *side[ours.Item] {
	list := new(ours.ServerList)
	c := ours.NewFromSelector(list)
	c.Timeout = patience
	c.Config = &client.Config{Engine: kind}
	return &side[ours.Item]{
		api: c, list: list, class: ourClass, seen: map[string][]*ours.Item{},
		give: func(i ours.Item) *ours.Item { return &i },
		take: func(i *ours.Item) ours.Item { return *i },
	}
}

// The classes of errors beyond those that have a value.
const (
	classTimeout = "timeout"
	classNetwork = "network"
	classServer  = "error line"
	classClient  = "client error"
)

func theirClass(err error) string {
	switch err {
	case nil, theirs.ErrCacheMiss, theirs.ErrCASConflict, theirs.ErrNotStored, theirs.ErrMalformedKey, theirs.ErrNoServers: //nolint:errorlint // as programs compare
		return text(err)
	}
	if strings.Contains(err.Error(), "unexpected") {
		return classServer
	}
	return otherClass(err)
}

func ourClass(err error) string {
	switch err {
	case nil, ours.ErrCacheMiss, ours.ErrCASConflict, ours.ErrNotStored, ours.ErrMalformedKey, ours.ErrNoServers: //nolint:errorlint // as programs compare
		return text(err)
	}
	if c := otherClass(err); c == classClient || !errors.Is(err, ours.ErrServerError) {
		return c
	}
	return classServer
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func otherClass(err error) string {
	if strings.HasPrefix(err.Error(), "memcache: client error: ") {
		return classClient
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return classTimeout
	}
	return classNetwork
}

// shortPatience is for calls that nobody will answer.
const shortPatience = 50 * time.Millisecond

func setTimeout(a *side[theirs.Item], b *side[ours.Item], d time.Duration) {
	a.api.(*theirs.Client).Timeout = d
	b.api.(*ours.Client).Timeout = d
}
