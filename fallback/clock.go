package fallback

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
)

const (
	// idleAfter is how long a connection's baton is free before a keeper takes
	// it.
	idleAfter = 5 * time.Millisecond

	// pollEvery is how often the done channels of callers that drive are
	// looked at: they are blocked in a read and can't do it.
	pollEvery = time.Millisecond
)

// A clock ends waits that are late and starts keepers, so that no wait needs a
// timer of its own. It runs only at the times that somebody needs: a caller
// that waits pays one atomic load to see that it will.
type clock struct {
	herd  *transport.Herd
	timer *time.Timer

	// next is when the clock runs next, or never. It is set to never before
	// the clock looks at anything; so who needs it either is seen by it, or
	// finds that it must be set.
	next atomic.Int64

	mu    sync.Mutex
	watch []*conn // those with watched > unwatched

	running sync.Mutex // held by run
	spare   []*conn    // takes the place of watch while run looks at that
}

const never = math.MaxInt64

// watched says how closely the clock looks at a connection. Guarded by its mu.
type watched uint8

const (
	unwatched watched = iota // it rests, or has a holder with no limit
	slow                     // within idleAfter
	fast                     // within pollEvery
)

func (k *clock) init(herd *transport.Herd) {
	k.herd = herd
	k.next.Store(never)
	k.timer = time.AfterFunc(time.Hour, k.run)
	k.timer.Stop()
}

// need makes the clock run at at or earlier; 0 is never.
func (k *clock) need(at int64) {
	if at == 0 || at >= k.next.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if at < k.next.Load() {
		k.next.Store(at)
		k.timer.Reset(max(time.Duration(at-transport.Now()), 0))
	}
}

// watchLocked makes the clock look at c, fast or slow. c.mu is held.
func (c *conn) watchLocked(closely bool) {
	k := &c.eng.clock
	if c.watched == unwatched {
		c.watched = slow
		k.mu.Lock()
		k.watch = append(k.watch, c)
		k.mu.Unlock()
	}
	now := transport.Now()
	c.idleSince = now
	if closely {
		c.watched = fast
		k.need(now + int64(pollEvery))
	} else {
		k.need(now + int64(idleAfter))
	}
}

// run is the timer's function.
func (k *clock) run() {
	k.running.Lock()
	defer k.running.Unlock()
	k.next.Store(never)
	now := transport.Now()
	next, _ := k.herd.Expire(now)

	k.mu.Lock()
	look := k.watch
	k.watch = k.spare
	k.mu.Unlock()
	kept := look[:0]
	for _, c := range look {
		if at := c.tick(now); at != 0 {
			kept = append(kept, c)
			if next == 0 || at < next {
				next = at
			}
		}
	}
	clear(look[len(kept):])
	k.mu.Lock()
	added := k.watch
	k.watch = append(kept, added...)
	k.mu.Unlock()
	clear(added)
	k.spare = added[:0]
	k.need(next)
}

// tick lets the clock look at the connection. It returns when to look again,
// or 0 if it needn't until it is told.
func (c *conn) tick(now int64) (next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	polled := c.polled
	c.polled = false
	if n := c.reads.Load() + c.writes.Load(); n != c.moved {
		c.moved, c.idleSince = n, now
	}
	switch idle := now-c.idleSince >= int64(idleAfter); {
	case c.baton == gone:
		c.watched = unwatched
		return 0
	case c.baton == held && c.hold.w == nil && (!idle || c.want > 0):
		// A keeper's, in use.
	case c.baton == held && c.hold.w == nil:
		return c.restLocked(now)
	case c.baton == held && c.hold.at == 0 && c.hold.done == nil:
		c.watched = unwatched
		return 0
	case c.baton == held:
		c.idleSince = now
		if c.hold.over(now) != nil {
			c.interruptLocked()
		}
	case idle:
		next = c.restLocked(now)
		c.startKeeperLocked()
		return next
	}
	next = now + int64(idleAfter)
	if polled || c.hold.done != nil {
		c.watched = fast
		return now + int64(pollEvery)
	}
	c.watched = slow
	if c.hold.at > now {
		next = min(next, c.hold.at)
	}
	return next
}
