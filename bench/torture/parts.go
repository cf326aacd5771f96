package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// part is one of the proofs that a run consists of.
type part struct {
	name   string
	weight time.Duration // of its share of the time; 0 if it has a number to do
	// run does it, for a time if it has a share, and adds it to the scoreboard. An error says that it could
	// not be done.
	run func(ctx context.Context, length time.Duration) error
}

// part returns one by its name, and the tests that it needs. Without a run it is nothing for this system.
func (r *run) part(name string) (p part, needs []seeded) {
	p.name = name
	weight := func(counted bool, share time.Duration) time.Duration {
		if counted {
			return 0
		}
		return share
	}
	switch name {
	case "closes":
		p.weight = weight(r.closes >= 0, 2)
		p.run = r.runCloses
		return p, nil
	case "servers":
		p.weight = weight(r.rounds > 0, 4)
		p.run = r.runRounds
		return p, nil
	}
	p.weight = weight(r.seeds > 0, 3)
	for _, s := range seededParts {
		if s.part != name {
			continue
		}
		needs = append(needs, s)
		if name == "fakekernel" && runtime.GOOS != "linux" {
			r.score.note("fakekernel was left out: it is of Linux only")
			continue
		}
		p.run = func(ctx context.Context, length time.Duration) error { return r.runSeeded(ctx, s, length) }
	}
	return p, needs
}

// all runs the parts. Each that has no number to do gets its share of the time that is left; what it doesn't
// use is for those after it.
func (r *run) all(ctx context.Context, parts []part) error {
	left := r.forTime
	for i, p := range parts {
		sum := time.Duration(0)
		for _, later := range parts[i:] {
			sum += later.weight
		}
		share := time.Duration(0)
		if p.weight > 0 {
			share = left * p.weight / sum
		}
		began := time.Now()
		if err := p.run(ctx, share); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if p.weight > 0 {
			left = max(left-time.Since(began), 0)
		}
	}
	return nil
}

// begin says that a part begins and makes status its progress.
func (r *run) begin(status func() string, format string, a ...any) {
	r.say(format, a...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// firstSeed is that of a part with so many seeds, or of one with a time.
func (r *run) firstSeed(n uint64) uint64 {
	switch {
	case r.first > 0:
		return r.first
	case n > 0:
		return 1
	}
	return uint64(r.began.UnixMicro())
}

// timeLeft estimates how long a part still takes: that is done of so many, or of a length.
func timeLeft(began time.Time, done, of uint64, length time.Duration) string {
	spent := time.Since(began)
	left := length - spent
	if of > 0 {
		if done == 0 {
			return "some time"
		}
		left = time.Duration(float64(spent) * float64(of-min(done, of)) / float64(done))
	}
	return max(left, 0).Round(time.Second).String()
}

// runSeeded does a part that is a test with seeds.
func (r *run) runSeeded(ctx context.Context, p seeded, length time.Duration) error {
	first := r.firstSeed(r.seeds)
	env := []string{fmt.Sprintf("SEED=%d", first)}
	what := fmt.Sprintf("for %v", length.Round(time.Second))
	if r.seeds > 0 {
		env = append(env, fmt.Sprintf("SEEDS=%d", r.seeds))
		what = fmt.Sprintf("%d of them", r.seeds)
	} else {
		env = append(env, "FOR="+length.String())
	}
	c := &child{part: p, say: r.say, fail: func(seed uint64, again string) { r.fail(p.part, seed, again) }}
	began := time.Now()
	r.begin(func() string {
		n, _ := c.state()
		of := ""
		if r.seeds > 0 {
			of = fmt.Sprintf(" of %d", r.seeds)
		}
		return fmt.Sprintf("%s: %s left; %d%s seeds, %d ops, %d wrong, %d hangs, %d leaks, %d desyncs, %d broken",
			p.part, timeLeft(began, n.seeds, r.seeds, length), n.seeds, of, n.ops, n.wrong, n.hangs, n.leaks, n.desyncs, n.broken)
	}, "%s: seeds from %d, %s", p.part, first, what)
	err := p.run(ctx, r.tests.command(ctx, p), env, c)
	n, line := c.state()
	if line != "" {
		r.say("%s: %s", p.part, line)
	}
	r.score.add(row{part: p.part, engine: p.engine, what: fmt.Sprintf("%d seeds", n.seeds), took: time.Since(began), counts: n})
	return err
}

// runCloses closes clients under load.
func (r *run) runCloses(ctx context.Context, length time.Duration) error {
	number, seed := r.closes, r.firstSeed(0)
	if number < 0 {
		number = int(r.forTime.Minutes() * closesPerMinute)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, length)
		defer cancel()
	} else {
		seed = r.firstSeed(1)
	}
	n := new(tally)
	c := &r.closings
	*c = closings{engines: r.engines, tally: n, say: r.say}
	began := time.Now()
	r.begin(func() string {
		done := uint64(c.done.Load())
		left := timeLeft(began, done, uint64(number), 0)
		return fmt.Sprintf("closes: %s left; %d of %d clients closed, %d ended wrongly, %d hangs, %d leaks",
			left, done, number, n.misclosed.Load(), n.hangs.Load(), n.leaks.Load())
	}, "closes: %d clients, seed %d", number, seed)
	err := c.run(ctx, number, seed)
	sum := n.counts()
	if sum.faulty() {
		r.fail("closes", seed, fmt.Sprintf("cd bench && go run ./torture -parts closes -closes %d -seed %d%s", c.done.Load(), seed, r.same))
	}
	sum.ops = uint64(c.calls.Load())
	r.score.add(row{part: "closes", engine: r.engineNames(), what: fmt.Sprintf("%d clients", c.done.Load()), took: time.Since(began), counts: sum})
	return err
}
