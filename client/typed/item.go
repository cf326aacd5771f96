package typed

import (
	"time"

	"github.com/memring/memring/client"
)

// Item is [client.Item] with a Value of type T.
type Item[T any] struct {
	Key   string
	Value T

	// Flags are the client flags without the bits of Config.FlagMask, which are the
	// cache's own: an item that has any of them set is not stored.
	Flags uint32

	// TTL is for how long the item is to live, see [client.Item]. As there, the calls
	// that return an Item leave it zero.
	TTL time.Duration

	// State says what a get has found out beside the value, see [client.State].
	State client.State
	// Info is the item's metadata, if a get was asked for it; its sizes are those of
	// what is stored.
	Info *client.Info

	// CAS is the item's version, set by the calls that return an Item and used by
	// CompareAndSwap.
	CAS uint64
}

// bare is the item without its value.
func (it Item[T]) bare() client.Item {
	return client.Item{Key: it.Key, Flags: it.Flags, TTL: it.TTL, CAS: it.CAS}
}
