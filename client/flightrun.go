package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// How long a flight waits between two looks at what another process loads: longer
// each time, so that loads that take long cost the server little, and a different
// time in each process.
const (
	minPause = 2 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// run is a flight from its beginning to its end.
func (f *flight) run() {
	stop := context.AfterFunc(f.cl.loads.ctx, f.cancel)
	defer func() {
		stop()
		f.cl.loads.land(f)
		close(f.done)
		f.cancel()
	}()
	if f.claim.loads() || f.await() {
		f.fill()
	}
}

// await looks at a claimed item again and again. It reports whether the claim has
// become this flight's; otherwise it has ended.
func (f *flight) await() bool {
	f.cl.loads.waits.Add(1)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		timer := time.NewTimer(pause/2 + rand.N(pause/2)) //nolint:gosec // not a secret
		select {
		case <-timer.C:
		case f.claim = <-f.handed:
		case <-f.ctx.Done():
		}
		timer.Stop()
		if f.claim.won {
			return true
		}
		it, err := f.cl.getClaim(f.ctx, &f.want)
		switch {
		case err == nil:
			if won, over := f.found(&it); won || over {
				return won
			}
		case cacheFailed(f.ctx, err):
			f.cl.loads.without.Add(1)
			f.notify(err)
			if f.handedLast() {
				return true
			}
			f.end = endWithout
			return false
		default: // all have left, or the client is closed
			if f.handedLast() {
				return true
			}
			f.err = err
			return false
		}
	}
}

// handedLast is for a flight that ends with the claim as it was: it makes it one that
// nobody joins any more, and reports whether it was handed the claim before. Then it is
// not over: nobody else knows of the claim, and it has to be used or given back.
func (f *flight) handedLast() bool {
	fs := &f.cl.loads
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.forget(f)
	select {
	case f.claim = <-f.handed:
		return true
	default:
		return false
	}
}

// found decides about one look: the claim is won, or the wait is over, or neither.
func (f *flight) found(it *Item) (won, over bool) {
	c := claimOf(it)
	switch {
	case c.serves(&f.opts):
		f.cl.serve(f.ctx, &f.want, it)
		f.item = *it
		return false, true
	case c.won:
		return f.move(c)
	case c.cas != f.claim.cas:
		f.end = endAgain
		return false, true
	}
	if f.cl.loads.watch.overdue(f.key, c.cas, f.opts.Claim) {
		f.cl.giveBack(f.ctx, &f.want, c)
	}
	return false, false
}

// move makes the flight that of another claim, which was won. If there is one
// already, that has to load, and this one's callers will find it.
func (f *flight) move(c claim) (won, over bool) {
	fs := &f.cl.loads
	fs.mu.Lock()
	defer fs.mu.Unlock()
	id := flightID{f.key, c.cas}
	if other := fs.open[id]; other != nil && other != f {
		other.hand(c)
		f.end = endAgain
		return false, true
	}
	if fs.open[f.id] == f { // else all have left, but the claim is there to be given back
		delete(fs.open, f.id)
		fs.open[id] = f
	}
	f.id, f.claim, f.loading = id, c, true
	return true, true
}

// fill loads the item and stores it.
func (f *flight) fill() {
	n := &f.cl.loads.loadCounters
	n.loads.Add(1)
	if f.quiet {
		n.behind.Add(1)
	}
	ttl := time.Duration(0)
	defer func() { // even if load has called runtime.Goexit
		close(f.loaded)
		f.settle(ttl)
	}()
	it, err := f.call()
	if err != nil {
		return
	}
	if ttl = f.opts.TTL; it.TTL != 0 {
		ttl = it.TTL
	}
	f.item = Item{Key: f.key, Value: it.Value, Flags: it.Flags}
}

// call calls load and makes whatever it ends with an error, unless it is an item.
func (f *flight) call() (it Item, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
		if err != nil {
			f.cl.loads.failed.Add(1)
			err = fmt.Errorf("memring: load: %w", err)
		}
		f.err = err
	}()
	it, err = f.load(f.ctx)
	returned = true
	return it, err
}

// settle stores what was loaded, or gives the claim back.
func (f *flight) settle(ttl time.Duration) {
	if f.err != nil && f.quiet {
		f.notify(f.err)
	}
	c := f.claim
	if c.cas == 0 {
		return
	}
	ctx := f.cl.ctx // that of the load may have ended
	switch {
	case f.err == nil && ttl >= 0:
		it := f.item
		it.TTL, it.CAS = ttl, c.cas
		if err := f.cl.CompareAndSwap(ctx, it); err != nil {
			f.notStored(ctx, err)
		} else if ttl > 0 && ttl <= f.opts.Refresh {
			f.calm(ctx)
		}
	case f.err == nil || errors.Is(f.err, ErrNotFound):
		if err := f.cl.drop(ctx, &f.want, c); err != nil && !lostClaim(err) {
			f.notify(err)
		}
	case !f.quiet || f.cl.loads.ctx.Err() != nil:
		f.cl.giveBack(ctx, &f.want, c)
	}
	// A claim that has failed in the background is left to run out: that is the
	// pause until the next attempt, and there is a value meanwhile.
}

// calm claims an item that was just stored and is about to expire already. Otherwise
// the next call would have it loaded anew, and again, as fast as a load is. The claim is
// left to run out.
func (f *flight) calm(ctx context.Context) {
	if len(f.item.Value) == 0 && f.item.Flags == 0 {
		return // claimed, it would count as nothing, see claimOf
	}
	it, err := f.cl.Inspect(ctx, f.key, GetOptions{Recache: f.opts.Refresh})
	if err == nil && it.State&Stale != 0 && it.State&Won != 0 { // meanwhile
		f.cl.giveBack(ctx, &f.want, claim{cas: it.CAS, of: stale})
	}
}

// notStored takes in why the store has failed. If it is unknown whether it was carried
// out, the claim can be given back even so: it is not there any more if it was.
func (f *flight) notStored(ctx context.Context, err error) {
	f.notify(err)
	if lostClaim(err) {
		f.cl.loads.lost.Add(1)
	} else if !f.quiet {
		f.cl.giveBack(ctx, &f.want, f.claim)
	}
}
