package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// scoreboard adds up the rounds, by fault and engine.
type scoreboard struct {
	server  string
	closing tally
	failed  []uint64 // seeds
	seeds   atomic.Uint64

	mu   sync.Mutex
	rows []*row // in the order of their first rounds
}

type row struct {
	fault, engine string
	rounds        int
	tally
}

func (s *scoreboard) add(p plan, t *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeds.Add(1)
	var to *row
	for _, r := range s.rows {
		if r.fault == p.fault.name && r.engine == engineName(p.engine) {
			to = r
		}
	}
	if to == nil {
		to = &row{fault: p.fault.name, engine: engineName(p.engine)}
		s.rows = append(s.rows, to)
	}
	to.rounds++
	to.add(t)
}

// total is everything, the closings too.
func (s *scoreboard) total() *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := new(tally)
	t.add(&s.closing)
	for _, r := range s.rows {
		t.add(&r.tally)
	}
	return t
}

func (s *scoreboard) print(w io.Writer, r *run) {
	fmt.Fprintf(w, "\n%s, %d callers, %s\n\n", s.server, r.callers, time.Since(r.began).Round(time.Second))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "fault\tengine\trounds\tops\tgets checked\twrong\thangs\tleaks\tdesyncs\ttimeouts\tsent\trecovered\tconns lost\tother errors\tlate p99.9\tmax\t>50ms\tinexcusable\ttimer p99.9\tmax\t")
	for _, row := range s.rows {
		row.line(tw, row.fault, row.engine, row.rounds)
	}
	total := s.total()
	total.line(tw, "all", "", int(s.seeds.Load()))
	_ = tw.Flush()

	fmt.Fprintln(w, "\nrecovered: of the requests given up after sending, where the server answered all in the end, those whose late")
	fmt.Fprintln(w, "  reply found its connection alive")
	fmt.Fprintln(w, "late: by how much the calls that reached their deadline returned after it; timer: by how much a timer of Go's that has")
	fmt.Fprintln(w, "  nothing to do with memring was late; inexcusable: later than 50ms even without the time in which that timer stood")
	fmt.Fprintf(w, "late news of writes whose outcome was unknown: %d\n", total.lateWrites.Load())
	if n := total.unquiet.Load(); n > 0 {
		fmt.Fprintf(w, "%d calls failed where servers closed only idle connections, or none\n", n)
	}
	if n := total.odd.Load() + total.server.Load(); n > 0 {
		fmt.Fprintf(w, "%d calls ended with an error that was not expected\n", n)
	}
	if c := &r.closings; r.closes > 0 {
		fmt.Fprintf(w, "closed under load: %d clients with %d calls, %d of which Close ended; %d ended otherwise than with ErrClosed; Close took %s at p50, %s at p99.9, %s at most; calls ended within %s at p99.9, %s at most\n",
			c.done.Load(), c.calls.Load(), c.cut.Load(), total.misclosed.Load(), short(c.closer.quantile(0.5)),
			short(c.closer.quantile(0.999)), short(c.closer.longest()),
			short(c.slow.quantile(0.999)), short(c.slow.longest()))
	}
	for _, seed := range s.failed {
		fmt.Fprintf(w, "failed: seed %d; again with -seed %d -seeds 1 and the same other flags\n", seed, seed)
	}
	fmt.Fprintf(w, "seeds=%d ops=%d wrong=%d hangs=%d leaks=%d timeouts=%d recovered=%.3f desyncs=%d gets=%d late_p999_ms=%.1f late_max_ms=%.1f late=%d late_inexcusable=%d timer_p999_ms=%.1f closes=%d misclosed=%d conns_lost=%d idle_errors=%d\n",
		s.seeds.Load(), total.ops.Load(), total.wrong.Load(), total.hangs.Load(), total.leaks.Load(), total.timeouts.Load(),
		total.recovered(), total.desyncs.Load(), total.gets.Load(), inMS(total.late.quantile(0.999)), inMS(total.late.longest()),
		total.late.over.Load(), total.inexcusable.Load(), inMS(total.lag.quantile(0.999)), r.closings.done.Load(), total.misclosed.Load(), total.unwanted.Load(), total.unquiet.Load())
}

func (t *tally) line(w io.Writer, fault, engine string, rounds int) {
	recovered := "-"
	if t.owed.Load() > 0 {
		recovered = fmt.Sprintf("%.2f%%", t.recovered())
	}
	other := t.lost.Load() + t.unavailable.Load() + t.overloaded.Load() + t.server.Load() + t.odd.Load()
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%d\t%d\t%s\t%s\t\n", fault, engine, rounds,
		t.ops.Load(), t.gets.Load(), t.wrong.Load(), t.hangs.Load(), t.leaks.Load(), t.desyncs.Load(), t.timeouts.Load(),
		t.sent.Load(), recovered, t.losses.Load(), other, short(t.late.quantile(0.999)), short(t.late.longest()), t.late.over.Load(), t.inexcusable.Load(),
		short(t.lag.quantile(0.999)), short(t.lag.longest()))
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func short(d time.Duration) string { return fmt.Sprintf("%.1fms", inMS(d)) }
