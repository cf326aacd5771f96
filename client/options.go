package client

import (
	"fmt"
	"strconv"
	"time"

	"github.com/memring/memring/reader"
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
	// NewCAS is the CAS of an item that Vivify makes, from memcached 1.6.27 on. If
	// zero, the server chooses it. It needs Vivify.
	NewCAS uint64
	// Recache makes the caller the one to store the item anew, with [Won], if it
	// has less than this left to live, before Touch. It is the others' [Claimed] then;
	// all get the value. If zero, an item is left to expire. It must not be negative.
	Recache time.Duration
	// UnlessCAS leaves the value where it is if the item still has this CAS, so that
	// who has a copy need not fetch it again: the get returns [ErrNotModified], and
	// the Item without its Value. If zero, the value is wanted in any case. All other
	// options hold either way; Inspect refuses it, since it tells the CAS.
	//
	// memcached has this from 1.6.40 on. An earlier one is asked for the CAS first,
	// and for the value only if it is another. That takes two requests, and the Item is
	// what the second found; in a [Batch], which has no place for it, it is
	// [ErrUnsupported].
	UnlessCAS uint64
	// Info asks for the item's metadata, for Item.Info. Inspect does so anyway.
	Info bool
	// NoBump leaves the item where it is in the server's order of last use, so that
	// it is neither kept for longer nor counted as used. Inspect does so anyway.
	NoBump bool
	// Bump has an Inspect count as a use of the item. Other gets do so anyway.
	Bump bool
	// Hints go to a proxy.
	Hints Hints
}

// apply makes the options part of a get's request.
//
// The server goes through the flags in their order (process_mget_cmd): R and what
// is asked for come before T, and tell what was. T comes before N, whose TTL a new
// item is to have.
func (g *GetOptions) apply(r *request) (err error) {
	inspect := r.verb == verbInspect
	switch {
	case g.Recache < 0:
		return fmt.Errorf("%w: Recache is %v", ErrArgument, g.Recache)
	case g.Bump && g.NoBump:
		return fmt.Errorf("%w: both Bump and NoBump", ErrArgument)
	case g.NewCAS != 0 && g.Vivify == 0:
		return fmt.Errorf("%w: NewCAS without Vivify, which makes new items", ErrArgument)
	case g.UnlessCAS != 0 && inspect:
		return fmt.Errorf("%w: UnlessCAS is for gets that return a value", ErrArgument)
	}
	x := r.extra()
	b := x.flags
	if b, err = appendTTL(b, " R", g.Recache); err != nil {
		return err
	}
	if g.Info || inspect {
		b = append(b, " t h l"...)
		x.asks = reader.WantTTL | reader.WantFetched | reader.WantIdle
	}
	if b, err = appendTTL(b, " T", g.Touch); err != nil {
		return err
	}
	if b, err = appendTTL(b, " N", g.Vivify); err != nil {
		return err
	}
	if g.NewCAS != 0 {
		b = r.appendNewCAS(b, g.NewCAS)
	}
	if g.NoBump || inspect && !g.Bump {
		b = append(b, " u"...)
	}
	if g.UnlessCAS != 0 {
		x.unless = g.UnlessCAS
		x.needs |= unlessCAS
		x.asks |= reader.WantCAS
	}
	x.flags = b
	return g.Hints.apply(r)
}

// appendNewCAS appends the flag that gives an item its next CAS.
func (r *request) appendNewCAS(b []byte, cas uint64) []byte {
	r.extra().needs |= chosenCAS
	return strconv.AppendUint(append(b, " E"...), cas, 10)
}

// appendIfCAS appends the flag that makes a change depend on the item's CAS.
func (r *request) appendIfCAS(b []byte, cas uint64) []byte {
	r.extra().ifCAS = true
	return strconv.AppendUint(append(b, " C"...), cas, 10)
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
