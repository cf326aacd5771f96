package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// How a run can end, for the exit status; what failed is on the scoreboard.
var (
	errFailed      = errors.New("there were faults of memring's; see above")
	errInterrupted = errors.New("interrupted: the score is of what was done by then")
)

// run is one run of the program.
type run struct {
	*settings
	began    time.Time
	score    scoreboard
	closings closings
	tests    *tests

	mu     sync.Mutex // one line at a time
	log    io.Writer
	status func() string // of the part that runs
}

// say writes to the log.
func (r *run) say(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.log, "%7s  ", time.Since(r.began).Round(time.Second))
	fmt.Fprintf(r.log, format+"\n", a...)
}

// fail notes that a seed has failed, and the command that runs it again.
func (r *run) fail(part string, seed uint64, again string) {
	r.say("FAILED: %s, seed %d; again with: %s", part, seed, again)
	r.score.fail(part, seed, again)
}

func torture(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	r := &run{settings: s, began: time.Now(), log: stderr}
	parts, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	r.began = time.Now() // what was built counts for nobody
	idle := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { r.progress(idle) })
	err = r.all(ctx, parts)
	close(idle)
	wg.Wait()
	if r.tests != nil {
		err = errors.Join(err, r.tests.remove())
	}

	r.score.print(stdout, r)
	switch {
	case err != nil:
		return err
	case r.score.faulty():
		return errFailed
	case ctx.Err() != nil:
		return errInterrupted
	}
	return nil
}

// prepare warms up, and builds what the parts need.
func (r *run) prepare(ctx context.Context) (parts []part, err error) {
	var test []seeded
	memcached := false
	for _, name := range r.parts {
		p, t := r.part(name)
		if p.run == nil {
			continue // not on this system
		}
		parts = append(parts, p)
		test = append(test, t...)
		memcached = memcached || t == nil
	}
	if memcached {
		if err := r.warmUp(ctx); err != nil {
			return nil, err
		}
	}
	if test != nil {
		r.say("building the tests")
		if r.tests, err = buildTests(ctx, r.goTool, test); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// warmUp takes what is taken once in a process, such as Go's epoll, and looks whether all is there.
func (r *run) warmUp(ctx context.Context) error {
	mc, err := memcachedtest.Run(ctx, memcachedtest.Options{})
	if err != nil {
		return err
	}
	var engines []client.EngineKind
	for _, kind := range r.engines {
		cl, err := client.New([]string{mc.Addr()}, &client.Config{Engine: kind})
		if err != nil && kind == client.URing && r.anyEngine {
			r.score.note("closes and servers ran without io_uring, which cannot be had here: %v", err)
			continue
		}
		if err != nil {
			return errors.Join(err, mc.Close())
		}
		if err := errors.Join(cl.Ping(ctx), cl.Close()); err != nil {
			return errors.Join(err, mc.Close())
		}
		engines = append(engines, kind)
	}
	r.engines = engines
	r.score.note("servers: memcached %s, %d callers", mc.Version(), r.callers)
	return mc.Close()
}

// progressEvery is how often the log gets a line.
const progressEvery = 10 * time.Second

func (r *run) progress(stop <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		r.mu.Lock()
		status := r.status
		r.mu.Unlock()
		if status != nil {
			r.say("%s", status())
		}
	}
}
