package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/memring/memring/bench/internal/cases"
)

// quantity is what a target limits.
type quantity struct {
	name  string
	value func(r, to *Row) float64 // NaN is never within a limit
	most  bool                     // the limit is a maximum
}

var (
	qCPU    = quantity{"CPU", cpuRatio, true}
	qP50    = quantity{"p50", func(r, to *Row) float64 { return r.P50US / to.P50US }, true}
	qThr    = quantity{"throughput", throughputRatio, false}
	qAllocs = quantity{"allocations per op", func(r, _ *Row) float64 { return r.AllocsOp }, true}
	qCalls  = quantity{"system calls per op", func(r, _ *Row) float64 { return *r.SyscallsOp }, true}
)

// allocSlack is for what the runtime and the slice itself allocate: no client allocates a 20th time.
const allocSlack = 0.05

// target is one promise about memring on io_uring (or, for allocations, on either engine).
type target struct {
	name    string
	network string
	callers int
	q       quantity
	of      cases.Client
	to      cases.Client // zero: the value itself is limited
	limit   float64
}

// targets are the table "what it must reach". go-memcache dials TCP only, so both sides of its
// ratios are taken over TCP.
var targets = []target{
	{cases.NameGet, "unix", 1, qCPU, cases.URing, cases.Poll, 0.70},
	{cases.NameGet, "unix", 1, qP50, cases.URing, cases.Poll, 1.00},
	{cases.NameGet, "unix", 1, qCalls, cases.URing, cases.Client{}, 1.1},
	{cases.NameGet, "unix", 1, qCPU, cases.URing, cases.GoMemcache, 0.60},
	{cases.NameGet, "unix", 8, qCPU, cases.URing, cases.Poll, 0.70},
	{cases.NameGet, "unix", 8, qThr, cases.URing, cases.Poll, 1.2},
	{cases.NameGet, "unix", 8, qThr, cases.URing, cases.GoMemcache, 2.2},
	{cases.NameGet, "unix", 64, qCPU, cases.URing, cases.Poll, 0.85},
	{cases.NameGet, "unix", 64, qThr, cases.URing, cases.Poll, 1.05},
	{cases.NameGet, "unix", 64, qCalls, cases.URing, cases.Client{}, 0.1},
	{cases.NameGet, "unix", 64, qThr, cases.URing, cases.GoMemcache, 6},
	{cases.NameGet, "tcp", 64, qThr, cases.URing, cases.Pipelining, 3.5},
	{cases.NameGetSlow, "unix", 1, qCPU, cases.URing, cases.Poll, 0.90},
	{cases.NameGetSlow, "unix", 1, qP50, cases.URing, cases.Poll, 1.02},
	{cases.NameGetSlow, "unix", 1, qCPU, cases.URing, cases.GoMemcache, 0.90},
	{cases.NameGetSlow, "unix", 8, qCPU, cases.URing, cases.Poll, 0.75},
	{cases.NameGetSlow, "unix", 8, qThr, cases.URing, cases.Poll, 1.0},
	{cases.NameGetSlow, "unix", 8, qCPU, cases.URing, cases.GoMemcache, 0.5},
	{cases.NameGet, "unix", 512, qThr, cases.URing, cases.Poll, 1.0},
	{cases.NameGet, "unix", 512, qThr, cases.URing, cases.GoMemcache, 9},
	{cases.NameGet, "tcp", 512, qThr, cases.URing, cases.Pipelining, 4},
	{cases.NameGet, "unix", 1, qAllocs, cases.URing, cases.Client{}, 1 + allocSlack},
	{cases.NameGet, "unix", 64, qAllocs, cases.URing, cases.Client{}, 1 + allocSlack},
	{cases.NameGetAppend, "unix", 1, qAllocs, cases.URing, cases.Client{}, allocSlack},
	{cases.NameGetAppend, "unix", 64, qAllocs, cases.URing, cases.Client{}, allocSlack},
	{cases.NameSet, "unix", 1, qAllocs, cases.URing, cases.Client{}, allocSlack},
	{cases.NameSet, "unix", 64, qAllocs, cases.URing, cases.Client{}, allocSlack},
}

// Verdict is a target and what became of it.
type Verdict struct {
	Target   string
	Measured string
	Missed   bool
	Unknown  bool // not measured in this run
	Noisy    bool
}

func (v Verdict) word() string {
	switch {
	case v.Missed && v.Noisy:
		return "MISSED ~"
	case v.Missed:
		return "MISSED"
	case v.Noisy:
		return "ok ~"
	}
	return "ok"
}

// Judge holds the rows against every target.
func Judge(rows []Row) []Verdict {
	var out []Verdict
	for _, t := range targets {
		out = append(out, t.judge(rows))
	}
	return append(out, judgeNoWorse(rows), judgeBystanders(rows))
}

func (t target) judge(rows []Row) Verdict {
	sign, unit := "≥", "×"
	if t.q.most {
		sign = "≤"
	}
	who := t.of.String()
	if t.to.Name == "" {
		unit = ""
	} else {
		who += " / " + t.to.String()
	}
	v := Verdict{Target: fmt.Sprintf("%s %s %d: %s %s %s %.2f%s", t.name, t.network, t.callers, who, t.q.name, sign, t.limit, unit)}
	r, to := find(rows, t.name, t.network, t.callers, t.of), find(rows, t.name, t.network, t.callers, t.to)
	if r == nil || (t.to.Name != "" && to == nil) || (t.q.name == qCalls.name && r.SyscallsOp == nil) {
		v.Unknown = true
		return v
	}
	value := t.q.value(r, to)
	v.Measured = fmt.Sprintf("%.3f%s", value, unit)
	if t.q.most {
		v.Missed = !(value <= t.limit)
	} else {
		v.Missed = !(value >= t.limit)
	}
	v.Noisy = r.Noisy || (to != nil && to.Noisy)
	return v
}

// sameWithin is how far apart two rows that are equal may be measured.
const sameWithin = 0.05

// judgeNoWorse looks for the row in which io_uring is furthest behind poll.
func judgeNoWorse(rows []Row) Verdict {
	v := Verdict{Target: fmt.Sprintf("no row of memring-uring is worse than memring-poll in throughput or CPU (noise %.0f%%)", 100*sameWithin), Unknown: true}
	worst, worse := 0.0, 0
	for i := range rows {
		r := &rows[i]
		poll := find(rows, r.Case, r.Network, r.Callers, cases.Poll)
		if r.Engine != cases.URing.Engine || poll == nil {
			continue
		}
		v.Unknown = false
		loss, what := cpuRatio(r, poll), "CPU"
		if l := 1 / throughputRatio(r, poll); l > loss {
			loss, what = l, "wall"
		}
		if loss > 1+sameWithin {
			worse++
		}
		if loss > worst {
			worst = loss
			v.Measured = fmt.Sprintf("%.3f× %s in %s", loss, what, cases.Case{Name: r.Case, Network: r.Network, Callers: r.Callers}.ID())
			v.Noisy = r.Noisy || poll.Noisy
		}
	}
	if v.Missed = worse > 0; v.Missed {
		v.Measured = fmt.Sprintf("%d rows, the worst %s", worse, v.Measured)
	}
	return v
}

// A bystander may be later than under poll by this much, which repeated runs of one engine differ by.
const (
	lateWithin   = 1.10
	lateWithinUS = 100
)

func judgeBystanders(rows []Row) Verdict {
	v := Verdict{Target: fmt.Sprintf("bystander's late p99: memring-uring / memring-poll ≤ %.2f× (or +%d µs)", lateWithin, lateWithinUS), Unknown: true}
	worst := 0.0
	for _, r := range rows {
		poll := find(rows, r.Case, r.Network, r.Callers, cases.Poll)
		if r.Engine != cases.URing.Engine || r.Late == nil || poll == nil || poll.Late == nil {
			continue
		}
		v.Unknown = false
		missed := r.Late.P99US > lateWithin*poll.Late.P99US && r.Late.P99US > poll.Late.P99US+lateWithinUS
		ratio := r.Late.P99US / poll.Late.P99US
		if v.Missed && !missed || v.Missed == missed && ratio <= worst {
			continue // a missed row is worse than any that isn't
		}
		v.Missed, worst = missed, ratio
		v.Measured = fmt.Sprintf("%.2f× (%s against %s µs) in %s", ratio, figure(r.Late.P99US), figure(poll.Late.P99US),
			cases.Case{Name: r.Case, Network: r.Network, Callers: r.Callers}.ID())
	}
	return v
}

// Targets prints the verdicts on what was measured and returns how many were missed.
func Targets(w io.Writer, verdicts []Verdict) (missed int, err error) {
	var b strings.Builder
	b.WriteString("\ntargets\n")
	unknown := 0
	for _, v := range verdicts {
		if v.Unknown {
			unknown++
			continue
		}
		if v.Missed {
			missed++
		}
		fmt.Fprintf(&b, "  %s  %s  %s\n", pad(v.word(), -12), pad(v.Measured, 9), v.Target)
	}
	if unknown > 0 {
		fmt.Fprintf(&b, "  %d more were not measured: this run had not the rows they compare\n", unknown)
	}
	_, err = io.WriteString(w, b.String())
	return missed, err
}
