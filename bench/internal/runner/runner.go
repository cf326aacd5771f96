// Package runner runs the cases in interleaved rounds: in each round every case, in each case every
// client, one short slice at a time. What disturbs the machine for a while then disturbs all of them.
package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
	"github.com/memring/memring/bench/internal/servers"
	"github.com/memring/memring/bench/internal/worker"
)

// Options say how to run.
type Options struct {
	Exe        string // this program
	Rounds     int
	Slice      time.Duration
	Warm       time.Duration // an unmeasured slice before the first round
	Count      time.Duration // length of the slices that count system calls
	CountTurns int           // how many of these a row gets, after the last round
	Gomaxprocs int           // of the workers
	Conns      int           // see peers.Config
	Rings      int           // see peers.Config
	Tracepoint uint64        // see worker.Spec
}

// entry is one row in the making.
type entry struct {
	c     cases.Case
	row   report.Row
	w     *child
	ticks [][]worker.Tick // of each round, if the case has them
}

// Result is what a run found.
type Result struct {
	Rows []report.Row
	// IdleCPU is what each client's workers used while they waited for their turn, against one core.
	// It should be next to nothing, or the clients disturb each other.
	IdleCPU map[string]float64
	// Degraded is what clients said that did not run at their best, each thing once.
	Degraded []string
	// CountFailed is why the kernel's counter couldn't be read, if it was expected to work.
	CountFailed string
}

// Run measures the cases.
func Run(ctx context.Context, all []cases.Case, set *servers.Set, o Options, p *Progress) (*Result, error) {
	res := &Result{IdleCPU: map[string]float64{}}
	plan := make([][]*entry, len(all))
	defer func() {
		for _, entries := range plan {
			for _, e := range entries {
				e.w.stop()
			}
		}
	}()
	p.plan(work(all, o))
	for i, c := range all {
		for _, client := range c.Clients {
			p.say("starting", c, client)
			w, err := start(ctx, c, client, set.For(c).Addr, o)
			if err != nil {
				return nil, blame(set, c, client, err)
			}
			e := &entry{c: c, w: w, row: newRow(c, client, o)}
			plan[i] = append(plan[i], e)
			if note := client.String() + ": " + w.note; w.note != "" && !slices.Contains(res.Degraded, note) {
				res.Degraded = append(res.Degraded, note)
			}
			if _, err := w.slice(ctx, worker.Command{Slice: o.Warm}); err != nil {
				return nil, blame(set, c, client, err)
			}
			p.did(o.Warm)
		}
	}
	began := time.Now()
	for round := range o.Rounds {
		for _, entries := range plan {
			for i := range entries {
				e := entries[(i+round)%len(entries)] // nobody is always first
				if e.c.MaxRounds != 0 && round >= e.c.MaxRounds {
					continue
				}
				p.say(fmt.Sprintf("round %d of %d:", round+1, o.Rounds), e.c, e.w.client)
				d := sliceOf(e.c, o)
				sample, err := e.w.slice(ctx, worker.Command{Slice: d})
				if err != nil {
					return nil, blame(set, e.c, e.w.client, err)
				}
				e.add(sample)
				p.did(d)
				res.IdleCPU[e.w.client.String()] += sample.IdleCPU.Seconds()
			}
		}
	}
	for who := range res.IdleCPU {
		res.IdleCPU[who] /= time.Since(began).Seconds()
	}
	var err error
	if res.CountFailed, err = count(ctx, plan, set, o, p); err != nil {
		return nil, err
	}
	p.end()
	for _, entries := range plan {
		for _, e := range entries {
			e.finish()
			res.Rows = append(res.Rows, e.row)
		}
	}
	return res, nil
}

// count gives every row its turns with the kernel's counter. While any process uses the tracepoint, all
// system calls on the machine are slower, so this comes last; and as the kernel takes tens of milliseconds
// to put a tracepoint to rest, it is held for the whole time.
func count(ctx context.Context, plan [][]*entry, set *servers.Set, o Options, p *Progress) (failed string, err error) {
	if o.Tracepoint == 0 {
		return "", nil
	}
	release, err := worker.HoldTracepoint(o.Tracepoint)
	if err != nil {
		return err.Error(), nil
	}
	defer release()
	for range o.CountTurns {
		for _, entries := range plan {
			for _, e := range entries {
				if !counts(e.c, o) {
					continue
				}
				p.say("counting system calls:", e.c, e.w.client)
				sample, err := e.w.slice(ctx, worker.Command{Slice: o.Count, Count: true})
				if err != nil {
					return "", blame(set, e.c, e.w.client, err)
				}
				addCount(&e.row, sample)
				p.did(o.Count)
				if sample.CountFailed != "" {
					failed = sample.CountFailed
				}
			}
		}
	}
	return failed, nil
}

func sliceOf(c cases.Case, o Options) time.Duration {
	if c.Slice > 0 {
		return c.Slice
	}
	if c.Stretch == 0 {
		return o.Slice
	}
	return time.Duration(c.Stretch * float64(o.Slice))
}

// counts tells whether a case's system calls are counted.
func counts(c cases.Case, o Options) bool { return o.Tracepoint != 0 && !c.Bystander && c.Tick == 0 }

// work is how long all slices take together.
func work(all []cases.Case, o Options) time.Duration {
	var sum time.Duration
	for _, c := range all {
		one := o.Warm
		for round := range o.Rounds {
			if c.MaxRounds == 0 || round < c.MaxRounds {
				one += sliceOf(c, o)
			}
		}
		if counts(c, o) {
			one += time.Duration(o.CountTurns) * o.Count
		}
		sum += one * time.Duration(len(c.Clients))
	}
	return sum
}

// blame finds the reason behind an error: a server that died explains what its clients saw.
func blame(set *servers.Set, c cases.Case, client cases.Client, err error) error {
	time.Sleep(100 * time.Millisecond) // a server's end may be noticed after its clients'
	if dead := set.Dead(); dead != nil {
		return fmt.Errorf("%w\n(while %s ran %s: %w)", dead, client, c.ID(), err)
	}
	return fmt.Errorf("%s in %s: %w", client, c.ID(), err)
}
