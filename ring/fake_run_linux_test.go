package ring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// fakeScore is what a seed came to.
type fakeScore struct {
	mu    sync.Mutex
	wrong []string

	ops, replies, failed, timeouts, canceled, retracted, reclaimed, conns atomic.Int64
	latest                                                                atomic.Int64 // the longest that a deadline was overrun, in ns
}

func (s *fakeScore) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 20 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// A deadline overrun by this much is a fault even on a machine that is busy
// with other things.
const muchTooLate = 10 * time.Second

// fakeRun is one seed: callers that send, wait, give up and close on an engine
// over a fake kernel.
type fakeRun struct {
	e       *Engine
	k       *fakeKernel
	score   *fakeScore
	driving atomic.Int32
	closing atomic.Bool
	wg      sync.WaitGroup // callers
	peers   sync.WaitGroup

	mu    sync.Mutex // guards r
	r     *rand.Rand
	lines []*fakeLine
	all   []*fakeConn // guarded by mu as well
}

// fakeLine is a place for a connection, which is dialled again when it has
// ended.
type fakeLine struct {
	mu   sync.Mutex
	conn *fakeConn
}

func (f *fakeRun) rand() *rand.Rand {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rand.New(rand.NewPCG(f.r.Uint64(), f.r.Uint64()))
}

func newFakeRun(seed uint64, score *fakeScore) (*fakeRun, error) {
	f := &fakeRun{score: score, r: rand.New(rand.NewPCG(seed, 1))}
	var err error
	if f.e, f.k, err = newFakeEngine(rand.New(rand.NewPCG(seed, 2))); err == nil {
		go f.e.keep()
	}
	return f, err
}

// run is all of a seed, until everything is closed.
func (f *fakeRun) run() {
	r := f.r
	for range 1 + r.IntN(5) {
		f.lines = append(f.lines, &fakeLine{})
	}
	callers, ops := 1+r.IntN(10), 5+r.IntN(40)
	early := time.Duration(-1) // Close comes while callers are busy
	if r.IntN(3) == 0 {
		early = time.Duration(r.IntN(20000)) * time.Microsecond
	}
	for range callers {
		r := f.rand()
		f.wg.Go(func() { f.caller(r, ops) })
	}
	if early >= 0 {
		time.Sleep(early)
	} else {
		f.wg.Wait()
		if r.IntN(3) == 0 {
			time.Sleep(35 * time.Millisecond) // the keeper watches after this
			if r.IntN(2) == 0 {
				f.idle()
			}
		}
	}
	f.close()
}

// close closes the engine, twice at a time, and looks what is left.
func (f *fakeRun) close() {
	f.closing.Store(true)
	var closers sync.WaitGroup
	for range 2 {
		closers.Go(func() { _ = f.e.Close() })
	}
	closers.Wait()
	f.wg.Wait()
	f.peers.Wait()
	f.audit()
	_ = unix.Close(f.k.efd)
}

// idle has all servers close while nobody calls. That must be noticed all the
// same.
func (f *fakeRun) idle() {
	f.k.mu.Lock()
	broke := f.k.broke
	for _, s := range f.k.all {
		s.eof = true
		s.progress()
		s.poke()
	}
	f.k.mu.Unlock()
	for end := time.Now().Add(muchTooLate); !broke; time.Sleep(time.Millisecond) {
		f.e.mu.Lock()
		open := f.e.slots.used
		f.e.mu.Unlock()
		if open == 0 {
			return
		}
		if time.Now().After(end) {
			f.score.complain("an idle engine does not notice that servers closed: %s", f.state())
			return
		}
	}
}

// state is for looking into a hang.
func (f *fakeRun) state() string {
	e, k := f.e, f.k
	held := "free"
	if e.mu.TryLock() {
		defer e.mu.Unlock()
	} else {
		held = "held"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := fmt.Sprintf("closing=%v mu=%s unclaimed=%d published=%d dirty=%d closingConns=%d slots=%d driving=%v inKernel=%v waiting=%v pace=%d submitter=%v ready=%v held=%d watching=%v tick=%d broke=%v fatal=%v dropped=%v lost=%v herd=%v dead=%v",
		f.closing.Load(), held, e.unclaimed, k.q.published(), len(e.dirty), len(e.closing), e.slots.used, e.driving.Load(), e.inKernel.Load(), k.waiting, e.pace.Load(),
		e.submitter.Load(), k.q.ready(), len(k.held), e.keeper.watching.Load(), e.keeper.tick.Load(), k.broke, k.fatal, k.dropped, e.lost.Load() != nil, e.herd.Asleep(), e.dead.Load())
	e.slots.each(func(c *conn) {
		f := k.socks[int32(c.fd)]
		s += fmt.Sprintf("\n\tconn %d: armed=%v rest=%v sending=%v ahead=%d flying=%d pending=%d dirty=%v gone=%v; kernel: recv=%v send=%v shut=%v eof=%v reset=%v inbox=%d outbox=%d",
			c.slot, c.armed, c.rest, c.sending, c.ahead, c.flying.Len(), c.pending.Len(), c.dirty, c.gone.Load(), f.recv != nil, f.send != nil, f.shut, f.eof, f.reset, len(f.inbox), len(f.outbox))
	})
	return s
}

// audit is made when everything is closed.
func (f *fakeRun) audit() {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	for _, s := range f.k.all {
		if !s.shut {
			f.score.complain("leak: a socket is not closed")
		}
		if (s.recv != nil || s.send != nil) && !f.k.broke {
			f.score.complain("leak: Close returned with a buffer in the kernel")
		}
	}
	for _, c := range f.all {
		if c.ended != 1 {
			f.score.complain("leak: Closed was called %d times", c.ended)
		}
	}
	if n := f.e.slots.used; n != 0 {
		f.score.complain("leak: %d slots in use", n)
	}
	if free, top := len(f.e.slots.free), f.e.slots.top; free != top && !f.k.broke {
		f.score.complain("leak: of %d slots, %d are free", top, free)
	}
	for _, w := range f.k.wrong {
		f.score.complain("kernel: %s", w)
	}
}

// conn returns a connection of the line, a new one if need be.
func (f *fakeRun) conn(l *fakeLine, r *rand.Rand) (*fakeConn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.conn; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ended == 0 {
			return c, nil
		}
	}
	c := &fakeConn{score: f.score, driving: &f.driving, endAt: -1, k: f.k}
	if r.IntN(4) == 0 && !f.k.calm {
		c.endAt = r.IntN(40)
	}
	s, err := f.k.dial(c, f.rand(), &f.peers)
	if err != nil {
		return nil, err
	}
	rc, err := f.e.adopt(int(s.fd), c)
	if err != nil {
		_ = unix.Close(int(s.fd)) // as Dial does
		return nil, err
	}
	c.mu.Lock()
	c.c = rc
	c.mu.Unlock()
	f.mu.Lock()
	f.all = append(f.all, c)
	f.mu.Unlock()
	f.score.conns.Add(1)
	l.conn = c
	return c, nil
}

func (f *fakeRun) caller(r *rand.Rand, ops int) {
	w := new(transport.Waiter)
	w.Init()
	for range ops {
		switch n := r.IntN(100); {
		case n < 4:
			f.woken(w, r)
		case n < 7 && !f.k.calm:
			f.unheard(w, r)
		default:
			c, err := f.conn(f.lines[r.IntN(len(f.lines))], r)
			if err != nil {
				time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
				continue
			}
			if n < 9 && !f.k.calm {
				_ = c.c.Close()
			}
			f.op(c, w, r)
		}
	}
}

// op is one request with its wait.
func (f *fakeRun) op(c *fakeConn, w *transport.Waiter, r *rand.Rand) {
	q, err := c.send(w, r)
	if err != nil {
		return
	}
	f.score.ops.Add(1)
	var deadline time.Time
	if r.IntN(10) < 6 && !f.k.calm {
		deadline = time.Now().Add(time.Duration(r.IntN(15000)) * time.Microsecond)
	}
	var done chan struct{}
	if r.IntN(5) == 0 && !f.k.calm {
		done = make(chan struct{})
		t := time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, func() { close(done) })
		defer t.Stop()
	}
	if err = f.wait(w, deadline, done); err != nil {
		if r.IntN(2) == 0 {
			c.reclaimBody(q, w)
		}
		done, retracted := c.abandon(q, w, r.IntN(2) == 0)
		if retracted {
			f.score.retracted.Add(1)
			if !q.loan.Over() {
				f.score.complain("a retracted body is still lent")
			}
		}
		if !done {
			c.reclaimBody(q, w)
			return
		}
	}
	c.mu.Lock()
	q.w = nil // and its signal is taken
	c.mu.Unlock()
	c.reclaimBody(q, w)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !q.done:
		f.score.complain("Wait returned nil for a request that is not done")
	case w.Signalled():
		f.score.complain("a waiter was signalled twice")
	case q.err == nil:
		f.score.replies.Add(1)
	default:
		f.score.failed.Add(1)
	}
}

// wait checks that Wait gives up for a reason only, and in time.
func (f *fakeRun) wait(w *transport.Waiter, deadline time.Time, done chan struct{}) error {
	err := f.e.Wait(w, nil, deadline, done)
	if late := time.Since(deadline); !deadline.IsZero() && late > 0 {
		if late > muchTooLate {
			f.score.complain("Wait overran its deadline by %v", late)
		}
		for old := f.score.latest.Load(); int64(late) > old && !f.score.latest.CompareAndSwap(old, int64(late)); {
			old = f.score.latest.Load()
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, transport.ErrTimeout):
		f.score.timeouts.Add(1)
		if deadline.IsZero() || time.Now().Before(deadline) {
			f.score.complain("ErrTimeout before the deadline")
		}
	case errors.Is(err, transport.ErrCanceled):
		f.score.canceled.Add(1)
		select {
		case <-done: // nil, and so never ready, if there was none
		default:
			f.score.complain("ErrCanceled without a cancellation")
		}
	case errors.Is(err, transport.ErrClosed) && f.closing.Load():
	case f.e.lost.Load() != nil && errors.Is(err, f.k.odds.fatal):
	default:
		f.score.complain("Wait: %v", err)
	}
	return err
}

// woken waits for a signal from outside.
func (f *fakeRun) woken(w *transport.Waiter, r *rand.Rand) {
	var waker sync.WaitGroup
	d := time.Duration(r.IntN(2000)) * time.Microsecond
	waker.Go(func() {
		time.Sleep(d)
		f.e.Wake(w)
	})
	err := f.wait(w, time.Time{}, nil)
	waker.Wait() // after which the signal is there, whatever Wait says
	if err != nil && !w.Take() {
		f.score.complain("the signal of Wake is lost")
	}
}

// unheard waits for nothing.
func (f *fakeRun) unheard(w *transport.Waiter, r *rand.Rand) {
	if err := f.wait(w, time.Now().Add(time.Duration(r.IntN(20000))*time.Microsecond), nil); err == nil {
		f.score.complain("Wait was signalled out of nothing")
	}
}
