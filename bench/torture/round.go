package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// recoveryLimit is how soon after a fault calls must succeed again.
const recoveryLimit = 15 * time.Second

// errHang ends the torture: a goroutine that hangs cannot be taken away.
var errHang = errors.New("a call hangs")

// report is told what happens in rounds. Its calls may overlap.
type report func(format string, a ...any)

// runRound does what a seed stands for, and counts into t. An error says that it could not be done.
func runRound(ctx context.Context, p plan, t *tally, say report) (err error) {
	before := settled()
	s, err := openStage(ctx, p)
	if errors.Is(err, errors.ErrUnsupported) {
		say("left out, since this system cannot do it (%v)", p)
		return nil
	}
	if err != nil {
		return err
	}
	l := newLoad(p, t)
	said := make(chan struct{}, 20) // so many wrong answers are told
	l.wrong = func(op, key string, err error) {
		select {
		case said <- struct{}{}:
			say("WRONG %s of %s: %v (%v)", op, key, err, p)
		default:
		}
	}
	l.odd = func(op string, err error) {
		select {
		case said <- struct{}{}:
			say("unexpected: %s: %v (%v)", op, err, p)
		default:
		}
	}
	p.cfg.LateWrite = l.lateWrite
	cl, err := client.New(s.addrs, &p.cfg)
	if err != nil {
		return errors.Join(err, s.close())
	}
	l.cl = cl
	idle := make(chan struct{})
	var aside sync.WaitGroup
	for i := range controlTimers {
		aside.Go(func() { control(&t.timer, &l.stalls, rand.New(rand.NewPCG(p.seed, uint64(i))), idle) })
	}
	ended := l.start()
	hung := watch(l, ended)

	episodes := make(chan struct{})
	ectx, cancel := context.WithTimeout(ctx, p.length)
	defer cancel()
	s.scene.ctx, s.scene.gate = ectx, &l.gate
	go func() { s.episodes(p, l, say); close(episodes) }()
	// The load goes on until the last episode has passed.
	for _, phase := range []<-chan struct{}{episodes, ended} {
		select {
		case <-phase:
			l.stop.Store(true)
			l.gate.open()
		case <-hung:
			t.hangs.Add(1)
			say("HANG (%v)\n%s", p, stacks())
			return errors.Join(errHang, s.close())
		}
	}
	close(idle)
	aside.Wait()
	t.unexplained.Add(l.stalls.unexplained())
	if p.fault.soft {
		s.recovery(p, l, say)
	}
	n := cl.Counters()
	t.dials.Add(n.Dials)
	t.losses.Add(n.Losses)
	t.desyncs.Add(n.Desyncs)
	if n.Desyncs > 0 {
		say("DESYNC %d times (%v)", n.Desyncs, p)
	}
	if !within(hangLimit, func() { err = cl.Close() }) {
		t.hangs.Add(1)
		say("HANG in Close (%v)\n%s", p, stacks())
		return errors.Join(errHang, s.close())
	}
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	if p.fault.quiet {
		t.unquiet.Add(t.lost.Load() + t.unavailable.Load())
	}
	if n, what := leaked(before); n > 0 {
		t.leaks.Add(uint64(n))
		say("LEAK %s (%v)\n%s", what, p, stacks())
	}
	return nil
}

// stage is the servers of a round: one that suffers, perhaps behind a proxy, and one that is well.
type stage struct {
	scene scene
	well  *memcachedtest.Process
	addrs []string
}

func openStage(ctx context.Context, p plan) (s *stage, err error) {
	s = new(stage)
	opts := memcachedtest.Options{Network: p.network, MemoryMiB: 512, Threads: 2, Args: p.fault.args}
	if s.scene.server, err = memcachedtest.Run(ctx, opts); err != nil {
		return nil, err
	}
	if s.well, err = memcachedtest.Run(ctx, opts); err != nil {
		return nil, errors.Join(err, s.close())
	}
	addr := s.scene.server.Addr()
	if p.fault.proxied {
		network, to := s.scene.server.DialAddr()
		if s.scene.proxy, err = newProxy(network, to, p.fault.tiny); err != nil {
			return nil, errors.Join(err, s.close())
		}
		addr = s.scene.proxy.addr()
	}
	s.addrs = []string{addr, s.well.Addr()}
	return s, nil
}

func (s *stage) close() error {
	var errs []error
	if s.scene.proxy != nil {
		errs = append(errs, s.scene.proxy.close())
	}
	for _, p := range []*memcachedtest.Process{s.scene.server, s.well} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// episodes lets the fault happen again and again until the scene's context ends, and checks after each time
// that the client has come through it.
func (s *stage) episodes(p plan, l *load, say report) {
	r := rand.New(rand.NewPCG(p.seed, 2))
	for s.scene.ctx.Err() == nil {
		p.fault.episode(&s.scene, r)
		if !recovers(l) {
			l.tally.hangs.Add(1)
			say("STUCK: no call succeeds %v after a fault (%v)\n%s", recoveryLimit, p, stacks())
			return
		}
	}
}

// recovery waits until the servers have answered everything, now that nobody asks any more, and counts the
// late replies that found their connection alive. Each belongs to a call that timed out after sending; those
// that are missing were lost with their connections.
func (s *stage) recovery(p plan, l *load, say report) {
	var timeouts, late, lost uint64
	for began := time.Now(); ; time.Sleep(5 * ms) {
		timeouts, late, lost = 0, 0, 0
		for _, c := range l.cl.Counters().Servers {
			timeouts += c.Timeouts
			late += c.LateReplies
			lost += c.ClosedByServer + c.ClosedByStall + c.ClosedByDebt + c.ClosedByDesync
		}
		waited := time.Since(began)
		if late >= timeouts || waited > recoveryLimit || lost > 0 && waited > time.Second {
			break
		}
	}
	l.tally.owed.Add(timeouts)
	l.tally.saved.Add(late)
	if lost > 0 || late != timeouts {
		l.tally.unwanted.Add(lost)
		say("%d of %d late replies came, %d connections were lost: %+v (%v)", late, timeouts, lost, l.cl.Counters().Servers, p)
	}
}

// recovers reports whether calls to all servers succeed again.
func recovers(l *load) bool {
	for end := time.Now().Add(recoveryLimit); time.Now().Before(end); time.Sleep(5 * ms) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		err := l.cl.Ping(ctx)
		cancel()
		if err == nil {
			return true
		}
	}
	return false
}

// watch returns a channel that is closed when a call of the load hangs.
func watch(l *load, ended <-chan struct{}) <-chan struct{} {
	hung := make(chan struct{})
	go func() {
		t := time.NewTicker(100 * ms)
		defer t.Stop()
		for {
			select {
			case <-ended:
				return
			case <-t.C:
				if l.overdue() > hangLimit {
					close(hung)
					return
				}
			}
		}
	}()
	return hung
}

// within runs f and reports whether it returned in time.
func within(limit time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// stacks are the goroutines, without the callers of the load that merely wait their turn.
func stacks() string {
	buf := make([]byte, 8<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	kept := all[:0]
	for _, g := range all {
		if !strings.Contains(g, "time.Sleep") && len(kept) < 100 {
			kept = append(kept, g)
		}
	}
	return fmt.Sprintf("%d goroutines, of which:\n%s", len(all), strings.Join(kept, "\n\n"))
}
