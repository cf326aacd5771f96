package client

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// flights are the loads that are under way in this process, and the waits for those
// of other processes.
//
// They are known by key and CAS, that is by claim, and a caller joins one only
// after a get has shown it that the claim still holds. So what the flight brings
// is not older than the call: whatever was deleted or invalidated before the call
// has ended the claims from before it.
type flights struct {
	mu      sync.Mutex
	open    map[flightID]*flight
	running int  // in the background
	closed  bool // nothing is spawned any more
	watch   watch
	loadCounters

	ctx    context.Context // ends when Close begins, before the client's
	cancel context.CancelFunc
	wg     sync.WaitGroup // all that may have a claim to give back
}

// flightID names a flight. Its cas is zero if it flies without the cache.
type flightID struct {
	key string
	cas uint64
}

// maxBackground bounds the loads in the background. What is beyond is not loaded:
// its claim runs out, and the value is there meanwhile.
const maxBackground = 256

// flight is one load, or one wait for another process's, and any number of callers
// that wait for how it ends.
type flight struct {
	cl     *Client
	want   // of the caller that began it
	ctx    context.Context
	cancel context.CancelFunc
	quiet  bool       // in the background: nobody waited when it began
	handed chan claim // a caller has won what the flight waits for
	loaded chan struct{}
	done   chan struct{}

	// Guarded by flights.mu.
	id      flightID
	holds   int  // callers that wait
	loading bool // it has the claim

	claim claim // the flight's own goroutine's

	// The result: before loaded or done is closed the flight's goroutine's, and
	// nobody's to write from then on.
	item Item
	err  error
	end  ending
}

// ending says how a flight has ended.
type ending uint8

const (
	endResult  ending = iota // with an item or an error
	endAgain                 // the claim has changed hands: look again
	endWithout               // the cache has failed: load without it
)

// enter joins the flight of claim c, or begins one. It fails if the client is closed,
// or if the flight would only wait and the caller does not want to.
func (fs *flights) enter(ctx context.Context, cl *Client, w *want, c claim) (*flight, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.open[flightID{w.key, c.cas}]
	if w.opts.NoWait && !c.loads() && (f == nil || !f.loading) {
		return nil, &OpError{Op: opLoad, Err: ErrClaimed}
	}
	if f != nil {
		fs.shared.Add(1)
		f.hand(c)
		f.holds++
		return f, nil
	}
	f = newFlight(ctx, cl, w, c, 0)
	f.holds = 1
	if !fs.begin(f) {
		return nil, &OpError{Op: opLoad, Outcome: NotSent, Err: ErrClosed}
	}
	return f, nil
}

// background begins a flight that nobody waits for, with a claim that was won. A
// flight that waits for that claim gets it instead.
func (fs *flights) background(ctx context.Context, cl *Client, w *want, c claim) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.open[flightID{w.key, c.cas}]; f != nil {
		f.hand(c)
		return
	}
	if fs.running >= maxBackground {
		return
	}
	f := newFlight(ctx, cl, w, c, w.opts.Claim)
	f.quiet = true
	if fs.begin(f) {
		fs.running++
	}
}

// newFlight makes a flight. If limit is not zero, its load ends after that.
func newFlight(ctx context.Context, cl *Client, w *want, c claim, limit time.Duration) *flight {
	f := &flight{
		cl: cl, want: *w, id: flightID{w.key, c.cas}, claim: c, loading: c.loads(),
		handed: make(chan claim, 1), loaded: make(chan struct{}), done: make(chan struct{}),
	}
	ctx = context.WithoutCancel(ctx)
	if limit == 0 {
		f.ctx, f.cancel = context.WithCancel(ctx)
	} else {
		f.ctx, f.cancel = context.WithTimeout(ctx, limit)
	}
	return f
}

// begin starts a flight. fs.mu is held.
func (fs *flights) begin(f *flight) bool {
	if !fs.spawn(f.run) {
		f.cancel()
		return false
	}
	if fs.open == nil {
		fs.open = make(map[flightID]*flight)
	}
	fs.open[f.id] = f
	return true
}

// spawn runs f, which may have a claim to give back, in a goroutine that Close waits
// for, unless that has begun. fs.mu is held.
func (fs *flights) spawn(f func()) bool {
	if !fs.closed {
		fs.wg.Go(f)
	}
	return !fs.closed
}

// farewell is how long Close lets claims be given back before it interrupts that too.
const farewell = time.Second

// close ends all loads and waits until their claims are given back, which the others
// in the fleet would wait for otherwise, but no longer than farewell. All have ended
// when what it returns is closed.
func (fs *flights) close() (ended <-chan struct{}) {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.cancel()
	done := make(chan struct{})
	go func() {
		fs.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(farewell):
	}
	return done
}

// hand gives a flight that waits for a claim that claim. fs.mu is held.
func (f *flight) hand(c claim) {
	if c.won && !f.loading {
		f.loading = true
		f.handed <- c
	}
}

// land takes a flight that has ended out.
func (fs *flights) land(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.forget(f)
	if f.quiet {
		fs.running--
	}
}

// forget makes a flight one that nobody joins any more. fs.mu is held.
func (fs *flights) forget(f *flight) {
	if fs.open[f.id] == f {
		delete(fs.open, f.id)
	}
}

// leave is the end of one caller's wait. Nobody joins a flight that all have left,
// as it is being cancelled.
func (fs *flights) leave(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.holds--; f.holds == 0 && !f.quiet {
		fs.forget(f)
		f.cancel()
	}
}

// wait returns what the flight ends with, or why the caller does not wait for it.
func (f *flight) wait(ctx context.Context) (Item, ending, error) {
	fs := &f.cl.loads
	defer fs.leave(f)
	var gone error
	select {
	case <-f.done:
	case <-ctx.Done():
		gone = contextError(ctx)
	case <-fs.ctx.Done():
		gone = ErrClosed
	}
	if gone != nil {
		select {
		case <-f.loaded: // and is being stored
		default:
			return Item{}, endResult, &OpError{Op: opLoad, Err: gone}
		}
	}
	if f.err != nil && fs.ctx.Err() != nil { // whatever load calls that
		return Item{}, endResult, &OpError{Op: opLoad, Err: ErrClosed}
	}
	return f.result()
}

// result is one caller's copy of the result.
func (f *flight) result() (Item, ending, error) {
	it := f.item
	it.Value = bytes.Clone(it.Value)
	return it, f.end, f.err
}
