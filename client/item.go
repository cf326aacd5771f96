package client

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/memring/memring/reader"
)

// Item is what the server stores under a key.
type Item struct {
	Key   string
	Value []byte
	Flags uint32 // the client flags: stored and returned, not looked at

	// TTL is for how long the item is to live, counted from now. Zero is for
	// ever; parts of a second round up; more than 30 days are sent as a point in
	// time. The calls that return an Item leave it zero: whoever stores such an
	// item again has to say for how long.
	TTL time.Duration

	// State says what a get has found out beside the value; zero for an ordinary
	// item.
	State State
	// Info is the item's metadata, if a get was asked for it; see [GetOptions] and
	// [Client.Inspect].
	Info *Info

	// CAS is the item's version, set by the calls that return an Item and used
	// by CompareAndSwap.
	CAS uint64
}

// State is what a server tells of an item that is to be stored anew, as a set of
// bits. See [GetOptions].
type State uint8

const (
	// Won: this caller is to store the item anew. Nobody else is told so, until the
	// item has been stored, deleted, invalidated or has expired.
	Won State = 1 << iota
	// Claimed: another caller has been told so before.
	Claimed
	// Stale: the item was invalidated. Its value is the one from before.
	Stale
)

// String names what is set, as in "won|stale", and is empty if nothing is.
func (s State) String() string {
	var names []string
	for i, name := range []string{"won", "claimed", "stale"} {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// found is what the reply to any request for an item says of it.
type found struct {
	flags uint32
	state State
	cas   uint64
}

func foundIn(it *reader.Item) found {
	f := found{flags: it.Flags, cas: it.CAS}
	if it.Won {
		f.state |= Won
	}
	if it.Leased {
		f.state |= Claimed
	}
	if it.Stale {
		f.state |= Stale
	}
	return f
}

func (f *found) item(key string, value []byte) Item {
	return Item{Key: key, Value: value, Flags: f.flags, State: f.state, CAS: f.cas}
}

// note takes in what a reply says of an item. The op is claimed.
func (o *op) note(it *reader.Item) {
	o.found = foundIn(it)
	x := o.extras
	if x == nil {
		return
	}
	if o.expect.Raw {
		x.line = string(it.Raw)
	}
	if x.asks != 0 {
		x.info = infoOf(it)
	}
}

// Counter is what Increment and Decrement store if there is no item.
type Counter struct {
	Value uint64        // the number itself: delta is not applied to it
	TTL   time.Duration // for how long it is to live, as Item.TTL
}

// MaxValueLen is the longest value that is sent at all, in bytes. The server's own
// limit is 1 MiB unless its -I option says otherwise.
const MaxValueLen = 1 << 30

// relativeMax is the longest TTL that memcached reads as relative
// (REALTIME_MAXDELTA).
const relativeMax = 30 * 24 * 3600

// exptime converts a TTL to what goes over the wire.
func exptime(ttl time.Duration) (int64, error) {
	if ttl < 0 {
		return 0, fmt.Errorf("%w: %v is negative; use Delete to drop an item", ErrTTL, ttl)
	}
	s := int64(ttl / time.Second)
	if ttl%time.Second > 0 {
		s++
	}
	if s <= relativeMax {
		return s, nil
	}
	s += time.Now().Unix()
	if s > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %v from now is later than memcached can express; use 0 for an item that never expires", ErrTTL, ttl)
	}
	return s, nil
}
