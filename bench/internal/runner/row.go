package runner

import (
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
	}
}

func procs(c cases.Case, o Options) int {
	if c.Procs != 0 {
		return c.Procs
	}
	return o.Gomaxprocs
}

// slowest notes the slowest call of any slice: a median would hide one that hung.
func slowest(r *report.Row, s worker.Sample) { r.MaxUS = max(r.MaxUS, us(s.Max)) }

// add takes over a slice's figures.
func add(r *report.Row, s worker.Sample) {
	slowest(r, s)
	put := func(key string, v float64) { r.Samples[key] = append(r.Samples[key], v) }
	ops := float64(s.Ops)
	put("wall_us", us(s.Wall)/ops)
	put("cpu_us", us(s.CPU)/ops)
	put("p50_us", us(s.P50))
	put("p99_us", us(s.P99))
	put("p999_us", us(s.P999))
	put("ops_per_s", ops/s.Wall.Seconds())
	put("allocs_per_op", float64(s.Mallocs)/ops)
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
