package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/memring/memring/client"
)

// rounds adds up the rounds of servers, by fault and engine.
type rounds struct {
	lines []*roundLine // in the order of their first rounds
}

type roundLine struct {
	fault  string
	engine client.EngineKind
	rounds int
	tally
}

func (s *rounds) add(p plan, t *tally) {
	var to *roundLine
	for _, r := range s.lines {
		if r.fault == p.fault.name && r.engine == p.engine {
			to = r
		}
	}
	if to == nil {
		to = &roundLine{fault: p.fault.name, engine: p.engine}
		s.lines = append(s.lines, to)
	}
	to.rounds++
	to.add(t)
}

// total is that of some engines, or of all if none is named.
func (s *rounds) total(engines ...client.EngineKind) *tally {
	t := new(tally)
	for _, r := range s.lines {
		if len(engines) == 0 || r.engine == engines[0] {
			t.add(&r.tally)
		}
	}
	return t
}

func (s *rounds) number() (n int) {
	for _, r := range s.lines {
		n += r.rounds
	}
	return n
}

func (s *rounds) print(w io.Writer) {
	if len(s.lines) == 0 {
		return
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "servers\tengine\trounds\tops\tchecked\twrong\thangs\tleaks\tdesyncs\ttimeouts\tsent\towed\trecovered\tconns lost\tother errors\tlatest\tunexplained\t")
	for _, r := range s.lines {
		r.print(tw)
	}
	_ = tw.Flush()
	total := s.total()
	fmt.Fprintf(w, "\nsent: timeouts whose request had been sent; late news of writes whose outcome was unknown: %d\n", total.lateWrites.Load())
	if n := total.unquiet.Load(); n > 0 {
		fmt.Fprintf(w, "%d calls failed where servers closed only idle connections, or none\n", n)
	}
	if n := total.server.Load(); n > 0 {
		fmt.Fprintf(w, "%d calls ended with an error of the server's\n", n)
	}
	s.printLateness(w)
}

// printLateness puts the calls beside the timers.
func (s *rounds) printLateness(w io.Writer) {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "late by\tof\tp50\tp99\tp99.9\tmax\t>10ms\t>50ms\tunexplained\tof all calls <=10ms\t")
	for _, kind := range []client.EngineKind{client.URing, client.Poll} {
		t := s.total(kind)
		if t.late.n.Load() == 0 {
			continue
		}
		soon := 100 * (1 - float64(t.late.soon.Load())/float64(t.ops.Load()))
		t.late.print(tw, "calls on "+engineName(kind), fmt.Sprint(t.unexplained.Load()), fmt.Sprintf("%.3f%%", soon))
		t.timer.print(tw, "plain timers meanwhile", "-", "-")
	}
	_ = tw.Flush()
	fmt.Fprintln(w, "\ncalls: those that reached their deadline or were cancelled, and by how much later they returned; plain timers: of Go's,")
	fmt.Fprintln(w, "  nothing to do with memring, in the same process: what the machine makes late, though it is above all when the machine")
	fmt.Fprintln(w, "  stands that calls reach their deadline. unexplained: more than 50ms even without the time in which some of these timers")
	fmt.Fprintln(w, "  stood; where processes compete, the call's own thread may have stood alone")
}

func (l *lateness) print(w io.Writer, of, unexplained, soon string) {
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t\n", of, l.n.Load(), short(l.quantile(0.5)), short(l.quantile(0.99)),
		short(l.quantile(0.999)), short(l.longest()), l.soon.Load(), l.over.Load(), unexplained, soon)
}

func (r *roundLine) print(w io.Writer) {
	n := row{counts: r.counts()}
	recovered := "-"
	if n.owed > 0 {
		recovered = fmt.Sprintf("%.2f%%", n.recovered())
	}
	other := r.lost.Load() + r.unavailable.Load() + r.overloaded.Load() + r.server.Load() + r.odd.Load()
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%s\t%d\t\n", r.fault, engineName(r.engine), r.rounds,
		n.ops, r.gets.Load(), n.wrong, n.hangs, n.leaks, n.desyncs, n.timeouts, r.sent.Load(), n.owed, recovered, r.losses.Load(), other,
		short(r.late.longest()), r.unexplained.Load())
}

// runRounds tortures real servers, each round by another seed.
func (r *run) runRounds(ctx context.Context, length time.Duration) error {
	first, began := r.firstSeed(r.rounds), time.Now()
	what := fmt.Sprintf("for %v", length.Round(time.Second))
	if r.rounds > 0 {
		what = fmt.Sprintf("%d of them", r.rounds)
	}
	r.begin(func() string {
		done, t := r.score.soFar()
		n := t.counts()
		return fmt.Sprintf("servers: %s left; %d rounds, %d values checked, %d wrong, %d hangs, %d leaks, %d desyncs, %.2f%% recovered",
			timeLeft(began, uint64(done), r.rounds, length), done, t.gets.Load(), n.wrong, n.hangs, n.leaks, n.desyncs, n.recovered())
	}, "servers: rounds with seeds from %d, %s", first, what)
	var err error
	for seed := first; err == nil && ctx.Err() == nil; seed++ {
		if r.rounds > 0 && seed-first >= r.rounds {
			break
		}
		// At least one round is made.
		if r.rounds == 0 && seed > first && time.Since(began)+r.length/2 > length {
			break
		}
		p, t := planOf(seed, r.settings), new(tally)
		if err = runRound(ctx, p, t, r.say); err != nil {
			err = fmt.Errorf("%v: %w", p, err)
		}
		r.score.addRound(p, t)
		again := fmt.Sprintf("cd bench && go run ./torture -parts servers -rounds 1 -seed %d%s", seed, r.same)
		n := t.counts()
		if n.faulty() {
			r.fail("servers", seed, again)
		}
		if late := t.unexplained.Load(); late > 0 {
			r.say("LATE: %d calls, %s at most, while the longest of the plain timers was late by %s (%v); again with: %s",
				late, short(t.late.longest()), short(t.timer.longest()), p, again)
		}
		if n.recovered() < leastRecovered { // which is for all rounds together to meet
			r.say("LOST: only %.2f%% recovered with seed %d; again with: %s", n.recovered(), seed, again)
		}
	}
	done, t := r.score.soFar()
	sum := t.counts()
	sum.seeds = uint64(done)
	r.score.add(row{part: "servers", engine: r.engineNames(), what: fmt.Sprintf("%d rounds", done), took: time.Since(began), counts: sum})
	return err
}
