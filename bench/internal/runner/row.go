package runner

import (
	"math"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
	"github.com/memring/memring/bench/internal/worker"
)

func newRow(c cases.Case, client cases.Client, o Options) report.Row {
	return report.Row{
		Case: c.Name, Network: c.Network, Callers: c.Callers,
		Client: client.Name, Engine: client.Engine,
		Gomaxprocs: procs(c, o), Samples: map[string]report.Samples{}, Title: c.Title(),
		Group: c.Group, Param: c.Param, Unit: c.Unit,
	}
}

func procs(c cases.Case, o Options) int {
	if c.Procs != 0 {
		return c.Procs
	}
	return o.Gomaxprocs
}

// add takes over a round's figures.
func (e *entry) add(s worker.Sample) {
	for key, v := range s.Extra {
		put(&e.row, key, v)
		extra(&e.row, key, v)
	}
	if e.c.Op == cases.Idle {
		return
	}
	add(&e.row, s)
	if e.c.Tick > 0 {
		put(&e.row, keyErrors, float64(s.Errors)/s.Wall.Seconds())
		var opened uint64
		for _, t := range s.Ticks {
			opened += t.Dials
		}
		put(&e.row, keyOpens, float64(opened)/s.Wall.Seconds())
		e.ticks = append(e.ticks, s.Ticks)
	}
}

// Figures that only some rows have, per second.
const (
	keyErrors = "errors_per_s"
	keyOpens  = "opens_per_s" // connections, counted by the server
)

// finish sums the rounds up.
func (e *entry) finish() {
	r := &e.row
	r.Finish()
	for _, v := range []*float64{&r.CPUUS, &r.AllocsOp, &r.P50US, &r.P99US, &r.P999US} {
		if math.IsNaN(*v) {
			*v = 0 // nobody measured it; there are no samples of it either
		}
	}
	if e.c.Op == cases.HandOver {
		extra(r, "ns_per_op", r.WallUS*1e3)
	}
	if e.c.Rate > 0 {
		extra(r, "rate_per_s", e.c.Rate)
	}
	if e.c.Tick == 0 {
		return
	}
	extra(r, keyErrors, report.Median(r.Samples[keyErrors]))
	extra(r, keyOpens, report.Median(r.Samples[keyOpens]))
	extra(r, "deadline_ms", us(e.c.Deadline)/1e3)
	r.Series = seriesOf(e.ticks[typical(r.Samples["ops_per_s"])], e.c.Tick)
}

// against holds the CPU time of a case's clients against its baseline's, round by round.
func against(entries []*entry) {
	for _, base := range entries {
		if base.client != base.c.Baseline {
			continue
		}
		to := base.row.Samples["cpu_us"]
		for _, e := range entries {
			of := e.row.Samples["cpu_us"]
			var ratios []float64
			for i := range min(len(of), len(to)) {
				ratios = append(ratios, of[i]/to[i])
			}
			extra(&e.row, "cpu_ratio_to_"+base.client.String(), report.Median(ratios))
		}
	}
}

// typical finds the round that is nearest to the median. The series is that round's, since what rounds
// have in common would not show where one of them stood still.
func typical(v report.Samples) (round int) {
	m := report.Median(v)
	for i := range v {
		if math.Abs(v[i]-m) < math.Abs(v[round]-m) {
			round = i
		}
	}
	return round
}

func seriesOf(ticks []worker.Tick, every time.Duration) []report.Tick {
	var out []report.Tick
	for i, t := range ticks {
		out = append(out, report.Tick{
			At: float64(i+1) * every.Seconds(), P99us: us(t.P99),
			Ops: float64(t.Ops) / every.Seconds(), Errors: float64(t.Errors) / every.Seconds(), Dials: float64(t.Dials) / every.Seconds(),
		})
	}
	return out
}

func put(r *report.Row, key string, v float64) { r.Samples[key] = append(r.Samples[key], v) }

func extra(r *report.Row, key string, v float64) {
	if r.Extra == nil {
		r.Extra = map[string]float64{}
	}
	r.Extra[key] = v
}

// slowest notes the slowest call of any slice: a median would hide one that hung.
func slowest(r *report.Row, s worker.Sample) { r.MaxUS = max(r.MaxUS, us(s.Max)) }

// add takes over a slice's figures.
func add(r *report.Row, s worker.Sample) {
	slowest(r, s)
	put := func(key string, v float64) { put(r, key, v) }
	ops := float64(s.Ops)
	if ops == 0 { // all calls failed: nothing can be said of one that didn't
		put("ops_per_s", 0)
		return
	}
	put("wall_us", us(s.Wall)/ops)
	put("ops_per_s", ops/s.Wall.Seconds())
	if s.CPU > 0 { // else it is another program's turn, whose process is not ours to measure
		put("cpu_us", us(s.CPU)/ops)
		put("allocs_per_op", float64(s.Mallocs)/ops)
	}
	for key, d := range map[string]time.Duration{"p50_us": s.P50, "p99_us": s.P99, "p999_us": s.P999} {
		if s.Max > 0 || d > 0 { // other programs tell some of them
			put(key, us(d))
		}
	}
	if s.HasEnters {
		put("enters_per_op", float64(s.Enters)/ops)
	}
	if s.Wakes > 0 {
		put("late_p50_us", us(s.LateP50))
		put("late_p99_us", us(s.LateP99))
		put("late_max_us", us(s.LateMax))
	}
}

// addCount takes over what a counting slice counted.
func addCount(r *report.Row, s worker.Sample) {
	slowest(r, s)
	if s.Counted {
		r.Samples["syscalls_per_op"] = append(r.Samples["syscalls_per_op"], float64(s.Syscalls)/float64(s.Ops))
	}
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
