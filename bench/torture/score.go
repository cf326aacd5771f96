package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// scoreboard is what has come out so far.
type scoreboard struct {
	mu     sync.Mutex
	rows   []row
	rounds rounds
	failed []failure
	notes  []string
}

// row is one part.
type row struct {
	part, engine string
	what         string // has been done, and how much of it
	took         time.Duration
	counts
}

// failure is a seed to run again.
type failure struct {
	part  string
	seed  uint64
	again string // how
}

func (s *scoreboard) add(r row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, r)
}

func (s *scoreboard) fail(part string, seed uint64, again string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, failure{part, seed, again})
}

// note is for what a reader has to know.
func (s *scoreboard) note(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, a...))
}

func (s *scoreboard) total() (sum counts) {
	for _, r := range s.rows {
		sum.add(r.counts)
	}
	return sum
}

// faulty reports whether something happened that never may, in any part.
func (s *scoreboard) faulty() bool {
	for _, r := range s.rows {
		if r.faulty() || r.recovered() < leastRecovered {
			return true
		}
	}
	return len(s.failed) > 0
}

// print writes all of it, the line of key=value pairs last.
func (s *scoreboard) print(w io.Writer, r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := time.Since(r.began)
	fmt.Fprintln(w)
	for _, note := range s.notes {
		fmt.Fprintln(w, note)
	}
	s.rounds.print(w)
	if c := &r.closings; c.done.Load() > 0 {
		fmt.Fprintf(w, "\ncloses: Close took %s at p50, %s at p99.9, %s at most; of %d calls it ended %d, within %s at p99.9, %s at most\n",
			short(c.closer.quantile(0.5)), short(c.closer.quantile(0.999)), short(c.closer.longest()),
			c.calls.Load(), c.cut.Load(), short(c.slow.quantile(0.999)), short(c.slow.longest()))
	}

	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "part\tengine\tdone\ttime\tops\twrong\thangs\tleaks\tdesyncs\tbroken\tprovoked\ttimeouts\towed\trecovered\t")
	for _, row := range s.rows {
		row.print(tw)
	}
	total := row{part: "all", took: took, counts: s.total()}
	total.print(tw)
	_ = tw.Flush()
	fmt.Fprintln(w, "\ndesyncs: replies that did not match although the server sent none such; provoked: those that it did send, noticed")
	fmt.Fprintln(w, "owed: requests given up after sending, where the server answered all in the end; recovered: those of them whose late")
	fmt.Fprintf(w, "  reply found its connection alive, %d%% or more in each part; wrong, hangs, leaks, desyncs, broken: 0\n", leastRecovered)

	if s.faulty() {
		fmt.Fprintln(w)
	}
	for _, r := range s.rows {
		if r.recovered() < leastRecovered {
			fmt.Fprintf(w, "FAILED: %s, only %.2f%% recovered\n", r.part, r.recovered())
		}
	}
	for _, f := range s.failed {
		fmt.Fprintf(w, "FAILED: %s, seed %d; again with: %s\n", f.part, f.seed, f.again)
	}
	n, t := total.counts, s.rounds.total()
	fmt.Fprintf(w, "seeds=%d ops=%d wrong=%d hangs=%d leaks=%d timeouts=%d recovered=%.3f%% desyncs=%d provoked=%d broken=%d",
		n.seeds, n.ops, n.wrong, n.hangs, n.leaks, n.timeouts, n.recovered(), n.desyncs, n.provoked, n.broken)
	fmt.Fprintf(w, " failed=%d owed=%d rounds=%d closes=%d checked=%d conns_lost=%d idle_errors=%d", len(s.failed), n.owed,
		s.rounds.number(), r.closings.done.Load(), t.gets.Load(), t.unwanted.Load(), t.unquiet.Load())
	fmt.Fprintf(w, " late_p999_ms=%.1f late_max_ms=%.1f late_50ms=%d late_unexplained=%d timer_p999_ms=%.1f timer_max_ms=%.1f seconds=%.0f\n",
		inMS(t.late.quantile(0.999)), inMS(t.late.longest()), t.late.over.Load(), t.unexplained.Load(),
		inMS(t.timer.quantile(0.999)), inMS(t.timer.longest()), took.Seconds())
}

func (r *row) print(w io.Writer) {
	recovered := "-"
	if r.owed > 0 {
		recovered = fmt.Sprintf("%.2f%%", r.recovered())
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", r.part, r.engine, r.what, r.took.Round(time.Second),
		r.ops, r.wrong, r.hangs, r.leaks, r.desyncs, r.broken, r.provoked, r.timeouts, r.owed, recovered)
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func short(d time.Duration) string { return fmt.Sprintf("%.1fms", inMS(d)) }

func (s *scoreboard) addRound(p plan, t *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds.add(p, t)
}

// soFar is the rounds and what they came to.
func (s *scoreboard) soFar() (n int, t *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rounds.number(), s.rounds.total()
}
