package client

import (
	"time"

	"github.com/memring/memring/reader"
)

// Info is what a server knows of an item beside its value, all of it as it was before
// the get that asked. memcached's clock counts in seconds.
type Info struct {
	// TTL is what the item has left to live, negative if it never expires. Of an item
	// that Vivify has just made it is what it was given.
	TTL time.Duration
	// Size is the value's, in bytes; zero with [ErrNotModified].
	Size int
	// Idle is for how long the item has not been used. memcached does not note every
	// use: a frequent one some times a minute, and none with NoBump.
	Idle time.Duration
	// Fetched: the item has been got since it was stored.
	Fetched bool
}

func infoOf(it *reader.Item) Info {
	ttl := time.Duration(-1)
	if it.TTL >= 0 {
		ttl = seconds(it.TTL)
	}
	return Info{TTL: ttl, Size: it.Size, Idle: seconds(int64(it.Idle)), Fetched: it.Fetched}
}

// seconds saturates: a number of the server's may be too large for a Duration.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(n, most)) * time.Second
}

// told returns an op's Info for its caller.
func (o *op) told(g *GetOptions) *Info {
	info := o.extras.info
	if s := o.found.state; info.TTL < 0 && g.Vivify > 0 && s&(Won|Stale) == Won {
		// An item that never expires is won only if it is stale, so this one is new,
		// and the server has told its TTL before it set it.
		info.TTL = (g.Vivify + time.Second - 1).Truncate(time.Second)
	}
	return &info
}
