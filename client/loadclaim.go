package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// claim is the right to store a key's item anew: nobody else has it as long as the
// item has this CAS. The zero claim is no right to anything.
type claim struct {
	cas uint64
	of  claimed
	won bool // by this process
}

// loads reports whether whoever has met the claim is to load: it is his, or there
// is none because the cache has failed.
func (c *claim) loads() bool { return c.won || c.cas == 0 }

// claimed is what there is while an item is claimed.
type claimed uint8

const (
	nothing claimed = iota // an empty item, made for the claim or as good as that
	fresh                  // a value that will expire soon
	stale                  // a value that was invalidated
)

// claimOf is the claim on an item that a get has returned.
//
// The item that mg's N makes is empty, has no client flags, and has been claimed
// from the beginning (proto_parser.c sets ITEM_TOKEN_SENT as it makes it). Every
// store makes a new item, which is not; so an item that nobody claims and that is
// not stale (md's I withdraws the claim, and marks it) was stored by someone. One
// that is claimed and empty may have been stored, or not: it counts as not.
func claimOf(it *Item) claim {
	f := found{flags: it.Flags, state: it.State}
	return claim{cas: it.CAS, of: f.claimed(len(it.Value)), won: it.State&Won != 0}
}

// claimed is what claimOf says of an item whose value has size bytes.
func (f *found) claimed(size int) claimed {
	switch {
	case size == 0 && f.flags == 0 && f.state != 0:
		return nothing
	case f.state&Stale != 0:
		return stale
	}
	return fresh
}

// serves reports whether what is there can be returned meanwhile.
func (c *claim) serves(o *LoadOptions) bool { return c.of == fresh || c.of == stale && o.Stale }

// errNoCAS is why a server that was started with -C is as good as none.
var errNoCAS = &OpError{Op: opLoad, Err: errors.New("the server gives items no CAS (memcached -C)")}

// drop deletes the item, if it is still the one that was claimed.
func (cl *Client) drop(ctx context.Context, w *want, c claim) error {
	return cl.Delete(ctx, w.key, DeleteOptions{IfCAS: c.cas})
}

// giveBack ends a claim, one's own or one whose owner has not stored the item in
// time: the next get wins it. Its owner, if it is still at it, finds another CAS.
func (cl *Client) giveBack(ctx context.Context, w *want, c claim) {
	var err error
	switch c.of {
	case nothing:
		err = cl.drop(ctx, w, c)
	case stale:
		err = cl.Delete(ctx, w.key, DeleteOptions{IfCAS: c.cas, Invalidate: true})
	case fresh:
		// Invalidating it would do, but it would be stale from then on. To append
		// nothing makes it a new item with the same value, flags and expiry time.
		err = cl.Append(ctx, Item{Key: w.key}, StoreOptions{IfCAS: c.cas})
	}
	if err != nil && !lostClaim(err) {
		w.notify(err)
	}
}

// getClaim is the get of a GetOrLoad. If it is given up, the claim that it may have
// won all the same is given back when the late reply comes.
func (cl *Client) getClaim(ctx context.Context, w *want) (Item, error) {
	o, srv, err := cl.takeKeyed(ctx, verbGet, w.key)
	if err != nil {
		return Item{}, err
	}
	if cl.loads.ctx.Err() != nil { // a claim could not be given back any more
		return Item{}, o.refuse(ErrClosed)
	}
	o.extra().loads = true
	opts := []GetOptions{w.opts.get()}
	if err := cl.getWith(ctx, srv, o, opts); err != nil {
		return Item{}, err
	}
	return o.result(srv, opts)
}

// returnClaim gives the claim of an abandoned op back, which nobody else knows of, in
// a goroutine of its own: the driver must not wait for a reply.
func (o *op) returnClaim() {
	x := o.extras
	if x == nil || !x.loads || o.err != nil || o.found.state&Won == 0 || o.found.cas == 0 {
		return
	}
	cl, w := o.c.p.srv.cl, want{key: o.key} // whoever asked was told that the cache has failed
	c := claim{cas: o.found.cas, of: o.found.claimed(x.size), won: true}
	cl.loads.mu.Lock()
	defer cl.loads.mu.Unlock()
	cl.loads.spawn(func() { cl.giveBack(cl.ctx, &w, c) })
}

// lostClaim reports whether err says that a claim was not there any more.
func lostClaim(err error) bool {
	return errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotStored)
}

// watch remembers since when claims have been seen, to find those whose owner has
// died or failed: the server ends only those on items that expire.
type watch struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	cas   uint64
	since time.Time
}

// maxWatched bounds the keys that are watched. Beyond it one is forgotten and seen
// anew, which makes its claim last longer.
const maxWatched = 1024

// overdue reports whether a claim has been seen for longer than limit, to one
// caller: for others it begins anew, since that one will end it.
func (w *watch) overdue(key string, cas uint64, limit time.Duration) bool {
	now := time.Now() // the claim is older than this: its item has come already
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.seen[key]
	if ok && s.cas == cas && now.Sub(s.since) < limit {
		return false
	}
	if !ok && len(w.seen) >= maxWatched {
		for k := range w.seen {
			delete(w.seen, k)
			break
		}
	}
	if w.seen == nil {
		w.seen = make(map[string]sighting)
	}
	w.seen[key] = sighting{cas, now}
	return ok && s.cas == cas
}
