package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// LoadOptions says how [Client.GetOrLoad] loads, keeps and renews a value. All
// processes that load a key should do so with the same ones.
type LoadOptions struct {
	// TTL is for how long a loaded item is kept. If zero, for ever; if negative, it
	// is not stored at all, only returned. The TTL of the Item that load returns
	// goes first, unless that is zero. An item whose TTL is no longer than Refresh is
	// loaded anew when it has been there for Claim, at the earliest.
	TTL time.Duration

	// Refresh is how long before the end of its TTL an item is loaded anew: the
	// first call that finds less than this left gets the value like all others, and
	// starts the load in the background. So a value that is good for ten minutes and
	// may be served for an hour beyond has a TTL of 70 minutes and a Refresh of 60.
	// If zero, it is loaded when it has expired. It must be less than TTL, and does
	// nothing for an item that never expires.
	Refresh time.Duration

	// Claim is for how long the process that loads keeps the others waiting. If it
	// has not stored the item by then, another one is to load it, and what the first
	// one brings is not stored any more. So it should be longer than a load takes. It
	// ends up to two seconds later where only the server has seen when it began. If
	// zero, 10 s. (Elsewhere this is called a lease, which in this package is
	// something else.)
	Claim time.Duration

	// Stale takes the value of an item that was invalidated (marked as stale, not
	// deleted) while it is being loaded anew in the background, with [Stale] in its
	// State. If false, such a value is never returned: the first caller loads, the
	// others wait.
	Stale bool

	// NoWait returns [ErrClaimed] where the call would wait for a load of another
	// process. It still waits for one in this process.
	NoWait bool

	// Notify, if not nil, is told of the errors that no call returns: the cache did
	// not answer and load was called without it, what was loaded could not be
	// stored ([ErrTooLarge], [ErrConflict] if the claim was lost, …), a load in the
	// background failed. It is called from several goroutines, which wait for it
	// and which Close waits for, so it must be quick and must not call Close.
	Notify func(error)
}

const (
	defaultClaim = 10 * time.Second
	// The server's clock has whole seconds, the current one of which may be nearly
	// over when an item is made: one second more, or a claim could be a second short.
	claimMargin = time.Second
	opLoad      = "get or load"
)

// ErrClaimed: another process loads the value, and LoadOptions.NoWait is set.
var ErrClaimed = errors.New("another process is loading the value")

// want is what a call of GetOrLoad asks for.
type want struct {
	key  string
	load func(context.Context) (Item, error)
	opts LoadOptions
}

// GetOrLoad returns the item stored under key. If there is none, it calls load,
// stores what that returns, and returns it. Of all processes that ask for the key
// meanwhile, one loads; in it, callers share the one load; the others ask the
// server again and again, at intervals of up to a quarter of a second, until the
// value is there.
//
// # The load
//
// load runs in a goroutine of its own. Its context has the values of the first
// caller's and ends when no caller waits any more, or with Close, which waits for
// load to return: so load must heed it, and must not call Close, nor GetOrLoad with the
// same key, which would wait for the load that it is part of. A load in the background
// ends after LoadOptions.Claim as well. Of the Item that load returns
// only Value, Flags and TTL count. The Value must not be changed later. Each caller
// gets a copy of it, whose CAS is zero, when it has been stored.
//
// An error of load is returned to all callers in this process that wait for it (it
// matches with [errors.Is]) and is not stored. The claim is given back at once, so
// that the next call loads, here or elsewhere. A panic of load, and a
// runtime.Goexit, is such an error too, a [PanicError]. Of a load in the background
// only LoadOptions.Notify learns; the value stays until it expires, and the next
// attempt is made when a Claim's time has passed.
//
// An error that matches [ErrNotFound] says that there is nothing to be loaded. The
// same as an Item with a negative TTL, it deletes the value that was to be loaded
// anew. To remember that there is nothing, return an Item that says so, for example
// with its Flags.
//
// # What is stored
//
// An item is stored only if nobody has changed, deleted or invalidated it since
// the load was claimed. So no call that begins after a Delete has returned gets a
// value from before it, except without the cache, see below. A process that dies
// loses its claim when LoadOptions.Claim has passed; callers elsewhere wait on and
// one of them takes it over.
//
// An invalidated item is claimed by any get, see [DeleteOptions].Invalidate. If that
// was none of GetOrLoad, it is loaded when a Claim's time has passed.
//
// While a key is claimed, there is an empty item without Flags under it, which
// other calls find, as they do one of [GetOptions].Vivify. GetOrLoad never returns
// it. A value that is itself empty and has no Flags can be told from it as long as it
// is neither near its expiry (LoadOptions.Refresh) nor invalidated. Then callers
// wait for the load as on a miss.
//
// # Without the cache
//
// If the server cannot be reached, or does not answer in time, or answers with an
// error, load is called all the same, once for all callers in the process that
// meet this, and the value is returned and not stored: a call may then get what a
// load brings that had begun before it. LoadOptions.Notify is told. Errors of
// the caller's own (ErrKey, ErrTTL, ErrArgument), of its context, and [ErrClosed]
// are returned.
//
// A caller whose context ends leaves with its error, or with the value if only its
// being stored was awaited; the load goes on for the others. What a call has claimed
// that had given up before it could know is given back when the late reply comes.
// Close gives back what is being loaded, see there. Claims are left to run out if the
// connection is lost, or if Close comes while the server's answer is on its way, or if
// load takes more than a second to heed its context.
func (cl *Client) GetOrLoad(ctx context.Context, key string, load func(context.Context) (Item, error), opts LoadOptions) (Item, error) {
	w := want{key, load, opts}
	if err := w.check(); err != nil {
		return Item{}, &OpError{Op: opLoad, Outcome: NotSent, Err: err}
	}
	for {
		it, err := cl.getClaim(ctx, &w)
		var f *flight
		switch {
		case err == nil:
			if f, err = cl.look(ctx, &w, &it); f == nil {
				return it, err
			}
		case !cacheFailed(ctx, err):
			return Item{}, err
		default:
			if f, err = cl.without(ctx, &w, err); f == nil {
				return Item{}, err
			}
		}
		var end ending
		if it, end, err = f.wait(ctx); end == endWithout {
			if f, err = cl.loads.enter(ctx, cl, &w, claim{}); f == nil {
				return Item{}, err
			}
			it, end, err = f.wait(ctx)
		}
		if end != endAgain && (opts.Stale || it.State&Stale == 0) {
			return it, err
		}
	}
}

// check refuses what cannot work, and fills in the defaults.
func (w *want) check() error {
	o := &w.opts
	switch {
	case w.load == nil:
		return fmt.Errorf("%w: load is nil", ErrArgument)
	case o.Refresh < 0 || o.Claim < 0:
		return fmt.Errorf("%w: Refresh is %v and Claim %v", ErrArgument, o.Refresh, o.Claim)
	case o.TTL > 0 && o.Refresh >= o.TTL:
		return fmt.Errorf("%w: Refresh is %v of a TTL of %v", ErrArgument, o.Refresh, o.TTL)
	}
	if o.Claim == 0 {
		o.Claim = defaultClaim
	}
	return nil
}

// get is what GetOrLoad asks of a get.
func (o *LoadOptions) get() GetOptions {
	return GetOptions{Vivify: o.Claim + claimMargin, Recache: o.Refresh}
}

func (w *want) notify(err error) {
	if w.opts.Notify != nil {
		w.opts.Notify(err)
	}
}

// cacheFailed reports whether err says that the cache is of no use at the moment,
// as opposed to the call.
func cacheFailed(ctx context.Context, err error) bool {
	if end, ok := ctx.Deadline(); ctx.Err() != nil || ok && !time.Now().Before(end) {
		return false
	}
	for _, own := range [...]error{ErrClosed, ErrNilClient, ErrKey, ErrTTL, ErrArgument, ErrConfig} {
		if errors.Is(err, own) {
			return false
		}
	}
	return true
}

// look decides what becomes of a call that has found it: the call ends with it, or
// with an error, if there is no flight to wait for.
func (cl *Client) look(ctx context.Context, w *want, it *Item) (*flight, error) {
	c := claimOf(it)
	if c.serves(&w.opts) {
		cl.serve(ctx, w, it)
		return nil, nil
	}
	*it = Item{}
	if c.cas == 0 {
		return cl.without(ctx, w, errNoCAS)
	}
	return cl.loads.enter(ctx, cl, w, c)
}

// serve sees to what is to be done about an item that the call returns.
func (cl *Client) serve(ctx context.Context, w *want, it *Item) {
	if it.State == 0 {
		return
	}
	c := claimOf(it)
	if it.State&Stale != 0 {
		cl.loads.stale.Add(1)
	}
	overdue := cl.loads.watch.overdue(w.key, c.cas, w.opts.Claim)
	switch {
	case c.cas == 0: // as for errNoCAS: nothing could be stored, and no claim given back
	case it.State&Won != 0:
		cl.loads.background(ctx, cl, w, c)
	case overdue:
		// Whoever asks next will have won it.
		cl.giveBack(ctx, w, c)
	}
	it.State &= Stale // the rest has been seen to
}

// without is what remains to be done if the cache fails with err.
func (cl *Client) without(ctx context.Context, w *want, err error) (*flight, error) {
	cl.loads.without.Add(1)
	w.notify(err)
	return cl.loads.enter(ctx, cl, w, claim{})
}
