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
	Exe        string                  // this program
	Exes       map[cases.Client]string // other builds of it, for clients that are in those
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
	c      cases.Case
	client cases.Client
	row    report.Row
	w      side
	ticks  [][]worker.Tick // of each round, if the case has them
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

// Run measures the cases, batch after batch: what is compared is measured in the same minutes, and no more
// processes are there at once than that takes.
func Run(ctx context.Context, all []cases.Case, set *servers.Set, o Options, p *Progress) (*Result, error) {
	r := &run{Options: o, set: set, p: p, res: &Result{IdleCPU: map[string]float64{}}, waited: map[string]time.Duration{}}
	p.plan(work(all, o))
	for _, batch := range cases.Batches(all) {
		if err := r.batch(ctx, batch); err != nil {
			return nil, err
		}
	}
	p.end()
	for who := range r.res.IdleCPU {
		r.res.IdleCPU[who] /= r.waited[who].Seconds()
	}
	return r.res, nil
}

// run is a run under way.
type run struct {
	Options
	set    *servers.Set
	p      *Progress
	res    *Result
	waited map[string]time.Duration // how long each client's workers existed, in rounds
}

func (r *run) batch(ctx context.Context, all []cases.Case) error {
	plan := make([][]*entry, len(all))
	defer func() {
		for _, entries := range plan {
			for _, e := range entries {
				e.w.stop()
			}
		}
	}()
	for i, c := range all {
		for _, client := range c.Clients {
			r.p.say("starting", c, client)
			w, err := begin(ctx, c, client, r.set.Addr(c), r.Options)
			if err != nil {
				return blame(r.set, c, client, err)
			}
			e := &entry{c: c, client: client, w: w, row: newRow(c, client, r.Options)}
			plan[i] = append(plan[i], e)
			if note := client.String() + ": " + w.said(); w.said() != "" && !slices.Contains(r.res.Degraded, note) {
				r.res.Degraded = append(r.res.Degraded, note)
			}
			if warm := warmOf(c, client, r.Options); warm > 0 {
				if _, err := w.slice(ctx, worker.Command{Slice: warm}); err != nil {
					return blame(r.set, c, client, err)
				}
				r.p.did(warm)
			}
		}
	}
	if err := r.rounds(ctx, plan); err != nil {
		return err
	}
	if err := r.count(ctx, plan); err != nil {
		return err
	}
	for _, entries := range plan {
		against(entries)
		for _, e := range entries {
			e.finish()
			r.res.Rows = append(r.res.Rows, e.row)
		}
	}
	return nil
}

// rounds gives each client of each case its turn, again and again.
func (r *run) rounds(ctx context.Context, plan [][]*entry) error {
	began := time.Now()
	for round := range r.Rounds {
		for _, entries := range plan {
			for i := range entries {
				e := entries[(i+round)%len(entries)] // nobody is always first
				if e.c.MaxRounds != 0 && round >= e.c.MaxRounds {
					continue
				}
				r.p.say(fmt.Sprintf("round %d of %d:", round+1, r.Rounds), e.c, e.client)
				d := sliceOf(e.c, r.Options)
				sample, err := e.w.slice(ctx, worker.Command{Slice: d})
				if err != nil {
					return blame(r.set, e.c, e.client, err)
				}
				e.add(sample)
				r.p.did(d)
				r.res.IdleCPU[e.client.String()] += sample.IdleCPU.Seconds()
			}
		}
	}
	seen := map[string]bool{}
	for _, entries := range plan {
		for _, e := range entries {
			if who := e.client.String(); !seen[who] {
				seen[who] = true
				r.waited[who] += time.Since(began)
			}
		}
	}
	return nil
}

// count gives every row its turns with the kernel's counter. While any process uses the tracepoint, all
// system calls on the machine are slower, so this comes last in a batch; and as the kernel takes tens of
// milliseconds to put a tracepoint to rest, it is held for the whole time, and the next batch waits a little.
func (r *run) count(ctx context.Context, plan [][]*entry) error {
	if r.Tracepoint == 0 || !slices.ContainsFunc(plan, func(entries []*entry) bool {
		return slices.ContainsFunc(entries, func(e *entry) bool { return countsOf(e.c, e.client, r.Options) > 0 })
	}) {
		return nil
	}
	release, err := worker.HoldTracepoint(r.Tracepoint)
	if err != nil {
		r.res.CountFailed = err.Error()
		return nil
	}
	defer time.Sleep(tracepointRest)
	defer release()
	for turn := range r.CountTurns {
		for _, entries := range plan {
			for _, e := range entries {
				if turn >= countsOf(e.c, e.client, r.Options) {
					continue
				}
				r.p.say("counting system calls:", e.c, e.client)
				sample, err := e.w.slice(ctx, worker.Command{Slice: r.Count, Count: true})
				if err != nil {
					return blame(r.set, e.c, e.client, err)
				}
				addCount(&e.row, sample)
				r.p.did(r.Count)
				if sample.CountFailed != "" {
					r.res.CountFailed = sample.CountFailed
				}
			}
		}
	}
	return nil
}

// tracepointRest is how long the kernel is given to put the tracepoint to rest.
const tracepointRest = 200 * time.Millisecond

func sliceOf(c cases.Case, o Options) time.Duration {
	if c.Slice > 0 {
		return c.Slice
	}
	if c.Stretch == 0 {
		return o.Slice
	}
	return time.Duration(c.Stretch * float64(o.Slice))
}

// work is how long all slices take together.
func work(all []cases.Case, o Options) time.Duration {
	var sum time.Duration
	for _, c := range all {
		var one time.Duration
		for round := range o.Rounds {
			if c.MaxRounds == 0 || round < c.MaxRounds {
				one += sliceOf(c, o)
			}
		}
		sum += one * time.Duration(len(c.Clients))
		for _, client := range c.Clients {
			sum += warmOf(c, client, o) + time.Duration(countsOf(c, client, o))*o.Count
		}
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
