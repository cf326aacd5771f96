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

// errFailed is for the exit status; what failed is on the scoreboard.
var errFailed = errors.New("there were faults of memring's; see above")

// run is one run of the program.
type run struct {
	*settings
	began    time.Time
	score    scoreboard
	closings closings

	mu  sync.Mutex // one line at a time
	log io.Writer
}

// say writes to the log.
func (r *run) say(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.log, "%7s  ", time.Since(r.began).Round(time.Second))
	fmt.Fprintf(r.log, format+"\n", a...)
}

func torture(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	r := &run{settings: s, began: time.Now(), log: stderr}
	if err := r.warmUp(ctx); err != nil {
		return err
	}
	idle := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { r.progress(idle) })
	err = r.all(ctx)
	close(idle)
	wg.Wait()

	r.score.print(stdout, r)
	if err == nil && r.score.total().failed() {
		err = errFailed
	}
	return err
}

// warmUp takes what is taken once in a process, such as Go's epoll, and looks whether all is there.
func (r *run) warmUp(ctx context.Context) error {
	mc, err := memcachedtest.Run(ctx, memcachedtest.Options{})
	if err != nil {
		return err
	}
	for _, kind := range r.engines {
		cl, err := client.New([]string{mc.Addr()}, &client.Config{Engine: kind})
		if err != nil {
			return errors.Join(err, mc.Close())
		}
		if err := errors.Join(cl.Ping(ctx), cl.Close()); err != nil {
			return errors.Join(err, mc.Close())
		}
	}
	r.score.server = "memcached " + mc.Version()
	return mc.Close()
}

// all does the closings first, and rounds for the rest of the time.
func (r *run) all(ctx context.Context) error {
	r.closings = closings{engines: r.engines, tally: &r.score.closing, say: r.say}
	if r.closes > 0 {
		if err := r.closings.run(ctx, r.closes, r.first); err != nil {
			return err
		}
	}
	for seed := r.first; ctx.Err() == nil; seed++ {
		if r.seeds > 0 && seed-r.first >= r.seeds {
			break
		}
		// At least one round is made.
		if r.seeds == 0 && seed > r.first && time.Since(r.began)+r.length/2 > r.forTime {
			break
		}
		p := planOf(seed, r.settings)
		t := new(tally)
		err := runRound(ctx, p, t, r.say)
		r.score.add(p, t)
		if t.failed() {
			r.score.failed = append(r.score.failed, seed)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("%v: %w", p, err)
		}
	}
	return nil
}

// progressEvery is how often the log gets a line.
const progressEvery = 5 * time.Second

func (r *run) progress(stop <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		r.say("%s", r.status())
	}
}

func (r *run) status() string {
	t := r.score.total()
	done := r.score.seeds.Load()
	left := r.forTime - time.Since(r.began)
	if r.seeds > 0 {
		left = time.Duration(r.seeds-done)*(r.length+r.length/4) +
			time.Duration(int64(r.closes)-r.closings.done.Load())*time.Minute/100_000
	}
	return fmt.Sprintf("%s left; %d closed, %d rounds, %d gets checked, %d wrong, %d hangs, %d leaks, %.2f%% recovered",
		max(left, 0).Round(time.Second), r.closings.done.Load(), done, t.gets.Load(), t.wrong.Load(), t.hangs.Load(),
		t.leaks.Load(), t.recovered())
}
