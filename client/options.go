package client

import (
	"fmt"
	"strconv"
	"time"
)

// GetOptions asks more of a get. The zero value asks nothing. It is the last
// argument of a get, at most once.
//
// Durations in it that end in the server's clock are rounded up to seconds, as a
// TTL is.
type GetOptions struct {
	// Touch sets the item's TTL anew, if it is there. If zero, it stays as it is; if
	// negative, the item never expires.
	Touch time.Duration

	// Vivify makes an empty item of this TTL if there is none, and the caller the
	// one to fill it: the Item that comes back is empty and has [Won] set. Until it is
	// stored, others get it too, with [Claimed]. If zero, a miss is [ErrNotFound]; if
	// negative, the empty item never expires by itself.
	Vivify time.Duration

	// Recache makes the caller the one to store the item anew, with [Won], if it
	// has less than this left to live. It is the others' [Claimed] then; all get the
	// value. If zero, an item is left to expire. It must not be negative.
	Recache time.Duration

	// NoBump leaves the item where it is in the server's order of last use, so that
	// it is neither kept for longer nor counted as used.
	NoBump bool
}

// appendFlags appends the options as flags of an mg.
func (g *GetOptions) appendFlags(b []byte) ([]byte, error) {
	if g.Recache < 0 {
		return b, fmt.Errorf("%w: Recache is %v", ErrArgument, g.Recache)
	}
	var err error
	for _, f := range [...]struct {
		flag string
		ttl  time.Duration
	}{{" T", g.Touch}, {" N", g.Vivify}, {" R", g.Recache}} {
		if b, err = appendTTL(b, f.flag, f.ttl); err != nil {
			return b, err
		}
	}
	if g.NoBump {
		b = append(b, " u"...)
	}
	return b, nil
}

// appendTTL appends a flag with a TTL as options have it: none for zero, for ever
// for negative ones.
func appendTTL(b []byte, flag string, ttl time.Duration) ([]byte, error) {
	if ttl == 0 {
		return b, nil
	}
	t, err := exptime(max(ttl, 0))
	return strconv.AppendInt(append(b, flag...), t, 10), err
}

// one returns the options of a call.
func one[T any](opts []T) (o T, err error) {
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		err = fmt.Errorf("%w: %d sets of options, want one", ErrArgument, len(opts))
	}
	return o, err
}
