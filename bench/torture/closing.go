package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// closings is how clients were closed while calls were outstanding, also on connections that are being made.
type closings struct {
	engines []client.EngineKind
	targets []target
	tally   *tally
	say     report

	done   atomic.Int64
	calls  atomic.Int64
	cut    atomic.Int64 // calls that Close has ended
	hung   atomic.Bool
	slow   lateness // by how long after Close the calls ended
	closer lateness // how long Close took
}

const (
	closeLanes = 4   // clients at a time
	closeBatch = 400 // clients between two looks for leaks
	fewClosed  = 40  // of which the first time takes what is taken once in a process
)

// target is a kind of server that clients are closed on.
type target struct {
	name  string
	addrs []string
}

// targets are a memcached on each network, a server that never answers, and, where it can be had, one that
// never accepts.
func openTargets(ctx context.Context) (ts []target, closeAll func() error, err error) {
	var closers []io.Closer
	closeAll = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	var live []string
	for _, network := range []string{"unix", "tcp"} {
		mc, err := memcachedtest.Run(ctx, memcachedtest.Options{Network: network, Threads: 2, MaxConns: 4096})
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		closers = append(closers, mc)
		live = append(live, mc.Addr())
	}
	mute, err := newMute()
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	closers = append(closers, mute)
	ts = []target{
		{"memcached, unix", live[:1]}, {"memcached, unix", live[:1]}, // fewer by TCP, whose ports run out
		{"memcached, tcp", live[1:]},
		{"mute", []string{mute.addr()}},
		{"mute and memcached", []string{mute.addr(), live[0]}},
	}
	if pit, addr, err := newTarpit(); err == nil {
		closers = append(closers, pit)
		ts = append(ts, target{"never accepts", []string{addr}}, target{"never accepts, and memcached", []string{addr, live[0]}})
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return nil, nil, errors.Join(err, closeAll())
	}
	return ts, closeAll, nil
}

// run closes n clients. seed makes the same choices again.
func (c *closings) run(ctx context.Context, n int, seed uint64) error {
	targets, closeAll, err := openTargets(ctx)
	if err != nil {
		return err
	}
	c.targets = targets
	c.batch(ctx, 0, fewClosed, seed)
	before := settled()
	for done := fewClosed; done < n && ctx.Err() == nil && !c.hung.Load(); {
		some := min(closeBatch, n-done)
		c.batch(ctx, done, some, seed)
		done += some
		if left, what := leaked(before); left > 0 {
			c.tally.leaks.Add(uint64(left))
			c.say("LEAK after %d clients were closed: %s\n%s", done, what, stacks())
			break
		}
	}
	if c.hung.Load() {
		return errors.Join(errHang, closeAll())
	}
	return closeAll()
}

// batch closes n clients, several at a time.
func (c *closings) batch(ctx context.Context, first, n int, seed uint64) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(closeLanes, n) {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n) && ctx.Err() == nil && !c.hung.Load(); i = next.Add(1) {
				c.one(rand.New(rand.NewPCG(seed, uint64(first)+uint64(i))))
			}
		})
	}
	wg.Wait()
}

// one makes a client, lets calls begin, and closes it.
func (c *closings) one(r *rand.Rand) {
	to := c.targets[r.IntN(len(c.targets))]
	kind := c.engines[r.IntN(len(c.engines))]
	cl, err := client.New(to.addrs, &client.Config{
		Engine: kind, Rings: 1 + r.IntN(2), ConnsPerServer: 1 + r.IntN(3), OpTimeout: -1, DialTimeout: -1,
	})
	if err != nil {
		c.fail("New: %v", err)
		return
	}
	var closedAt atomic.Int64
	closedAt.Store(never)
	callers, wait := 1+r.IntN(8), time.Duration(0)
	if r.IntN(4) > 0 {
		wait = between(r, 0, 1500*us)
	}
	ended := make(chan error, callers)
	for i := range callers {
		go func() { ended <- c.callUntilClosed(cl, i, &closedAt) }()
	}
	if wait > 0 {
		time.Sleep(wait)
	}
	begun := now()
	closedAt.Store(begun)
	ok := within(hangLimit, func() {
		var wg sync.WaitGroup
		for range 1 + r.IntN(2) {
			wg.Go(func() {
				if err := cl.Close(); err != nil {
					c.fail("Close: %v", err)
				}
			})
		}
		wg.Wait()
		c.closer.add(time.Duration(now() - begun))
		for range callers {
			if err := <-ended; !errors.Is(err, client.ErrClosed) {
				c.fail("a call on %s (%s) ended with: %v", to.name, engineName(kind), err)
			}
		}
	})
	if !ok && c.hung.CompareAndSwap(false, true) {
		c.tally.hangs.Add(1)
		c.say("HANG of Close, or of a call after it, on %s (%s)\n%s", to.name, engineName(kind), stacks())
	}
	c.tally.desyncs.Add(cl.Counters().Desyncs)
	c.done.Add(1)
}

// callUntilClosed makes calls until one fails.
func (c *closings) callUntilClosed(cl *client.Client, i int, closedAt *atomic.Int64) error {
	ctx := context.Background()
	if i%3 == 1 { // a context that could end the call, but does not
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	value := filling[:100]
	if i == 5 {
		value = filling[:200_000]
	}
	keys := make([]string, 20)
	for k := range keys {
		keys[k] = fmt.Sprintf("closing%d", k)
	}
	for n := i; ; n++ {
		var err error
		begun := now()
		switch n % 4 {
		case 0:
			_, err = cl.Get(ctx, keys[n%len(keys)])
		case 1:
			err = cl.Set(ctx, client.Item{Key: keys[i], Value: value})
		case 2:
			for _, e := range cl.GetMulti(ctx, keys) {
				err = errors.Join(err, e)
			}
		default:
			_, _, err = cl.GetAppend(ctx, nil, keys[n%len(keys)])
		}
		c.calls.Add(1)
		if err == nil || errors.Is(err, client.ErrNotFound) {
			continue
		}
		if at := closedAt.Load(); at != never {
			c.slow.add(time.Duration(now() - at))
			if begun < at {
				c.cut.Add(1)
			}
		}
		return err
	}
}

func (c *closings) fail(format string, a ...any) {
	if c.tally.misclosed.Add(1) <= 10 {
		c.say("MISCLOSED: "+format, a...)
	}
}

// mute is a server that accepts and never answers.
type mute struct {
	ln net.Listener
	wg sync.WaitGroup
}

func newMute() (*mute, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mute{ln: ln}
	m.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			m.wg.Go(func() {
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			})
		}
	})
	return m, nil
}

func (m *mute) addr() string { return m.ln.Addr().String() }

func (m *mute) Close() error {
	err := m.ln.Close()
	m.wg.Wait()
	return err
}
