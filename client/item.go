package client

import (
	"fmt"
	"math"
	"time"
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

	// CAS is the item's version, set by the calls that return an Item and used
	// by CompareAndSwap.
	CAS uint64
}

// Counter is what Increment and Decrement store if there is no item.
type Counter struct {
	Value uint64
	TTL   time.Duration
}

const (
	// MaxKeyLen is the longest key that memcached takes, in bytes.
	MaxKeyLen = 250
	// MaxValueLen is the longest value that is sent at all, in bytes. The
	// server's own limit is 1 MiB unless its -I option says otherwise.
	MaxValueLen = 1 << 30
)

// checkKey refuses what memcached's text protocol cannot carry: protocol.txt
// forbids control characters and white space, and a newline would inject a
// command.
func checkKey(key string) error {
	if len(key) == 0 {
		return fmt.Errorf("%w: it is empty", ErrKey)
	}
	if len(key) > MaxKeyLen {
		return fmt.Errorf("%w: it has %d bytes, more than %d", ErrKey, len(key), MaxKeyLen)
	}
	for i := 0; i < len(key); i++ {
		if key[i] <= ' ' || key[i] == 0x7f {
			return fmt.Errorf("%w: byte %d is a space or a control character", ErrKey, i)
		}
	}
	return nil
}

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
