package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/memring/memring/bench/internal/cases"
)

// quantity is what a target limits: a column, and on which side.
type quantity struct {
	name string
	key  string
	most bool // the limit is a maximum
}

var (
	qCPU    = quantity{"CPU", KeyCPU, true}
	qP50    = quantity{"p50", KeyP50, true}
	qThr    = quantity{"throughput", KeyOps, false}
	qAllocs = quantity{"allocations per op", KeyAllocs, true}
	qCalls  = quantity{"system calls per op", KeyCalls, true}
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

// Verdict is a target and what became of it: missed, noisy (nobody can tell), unknown (not measured in
// this run), or none of them, met.
type Verdict struct {
	Target   string
	Measured string
	Missed   bool
	Noisy    bool
	Unknown  bool
}

// Word for it.
func (v Verdict) Word() string {
	switch {
	case v.Unknown:
		return "not measured"
	case v.Missed:
		return "MISSED"
	case v.Noisy:
		return "noisy"
	}
	return "met"
}

func allTargets() []target { return slices.Concat(targets, seedTargets) }

// Judge holds the rows against every target.
func Judge(rows []Row) []Verdict {
	var out []Verdict
	for _, t := range allTargets() {
		out = append(out, t.judge(rows))
	}
	out = append(out, judgeSizes(rows)...)
	return append(out, judgeNoWorse(rows), judgeBystanders(rows))
}

func (t target) judge(rows []Row) Verdict {
	sign, unit, who := "≥", "", t.of.String()
	if t.q.most {
		sign = "≤"
	}
	of := Row{Case: t.name, Network: t.network, Callers: t.callers, Group: cases.GroupOf(t.name)}
	r := Find(rows, &of, t.of)
	value := Interval{Mid: math.NaN()}
	if t.to.Name == "" {
		if r != nil {
			value = IntervalOf(t.q.samples(r))
		}
	} else {
		unit, who = "×", who+" / "+t.to.String()
		if to := Find(rows, &of, t.to); r != nil && to != nil {
			value = Compare(r, to, t.q.key)
		}
	}
	v := Verdict{Target: fmt.Sprintf("%s %s %d: %s %s %s %.2f%s", t.name, t.network, t.callers, who, t.q.name, sign, t.limit, unit)}
	if !value.Known() {
		v.Unknown = true
		return v
	}
	v.Measured = fmt.Sprintf("%.3f%s", value.Mid, unit)
	v.Missed, v.Noisy = value.Against(t.limit, t.q.most)
	if t.q.key == KeyCalls && r.SyscallsBy == SourceKernel {
		v.Measured += ownCalls(r, t)
	}
	return v
}

// ownCalls holds memring's own count against the same limit, beside the kernel's, in which the runtime's calls
// are too (futex and the like). It is for the reader alone: the kernel's is judged.
func ownCalls(r *Row, t target) string {
	own := IntervalOf(r.Samples[KeyEnters])
	if !own.Known() {
		return ""
	}
	v := Verdict{}
	v.Missed, v.Noisy = own.Against(t.limit, t.q.most)
	return fmt.Sprintf(" (enters %.3f: %s)", own.Mid, v.Word())
}

// samples of system calls are the engine's where the kernel's can't be had.
func (q quantity) samples(r *Row) Samples {
	if q.key == KeyCalls && len(r.Samples[KeyCalls]) == 0 {
		return r.Samples[KeyEnters]
	}
	return r.Samples[q.key]
}

// sameWithin is how far apart two rows that are equal may be measured.
const sameWithin = 0.05

// judgeNoWorse looks for the row in which io_uring is furthest behind poll, among those that can be judged.
func judgeNoWorse(rows []Row) Verdict {
	v := Verdict{Target: fmt.Sprintf("no row of memring-uring is worse than memring-poll in throughput or CPU (noise %.0f%%)", 100*sameWithin), Unknown: true}
	worst, worse, unclear := 0.0, 0, 0
	for i := range rows {
		r := &rows[i]
		poll := Find(rows, r, cases.Poll)
		if r.Engine != cases.URing.Engine || poll == nil || !rival(r) {
			continue
		}
		v.Unknown = false
		loss, what := Compare(r, poll, KeyCPU), "CPU"
		if l := Compare(r, poll, KeyWall); l.Mid > loss.Mid {
			loss, what = l, "wall"
		}
		missed, noisy := loss.Against(1+sameWithin, true)
		if missed {
			worse++
		}
		if noisy {
			unclear++
			continue
		}
		if loss.Mid > worst {
			worst = loss.Mid
			v.Measured = fmt.Sprintf("%.3f× %s in %s", loss.Mid, what, id(r))
		}
	}
	if v.Missed = worse > 0; v.Missed {
		v.Measured = fmt.Sprintf("%d rows, the worst %s", worse, v.Measured)
	}
	if unclear > 0 {
		v.Noisy = !v.Missed
		v.Measured = strings.TrimPrefix(fmt.Sprintf("%s; %d rows too noisy", v.Measured, unclear), "; ")
	}
	return v
}

func id(r *Row) string { return cases.Case{Name: r.Case, Network: r.Network, Callers: r.Callers}.ID() }

// A bystander may be later than under poll by this much, which repeated runs of one engine differ by.
const (
	lateWithin   = 1.10
	lateWithinUS = 100
)

func judgeBystanders(rows []Row) Verdict {
	v := Verdict{Target: fmt.Sprintf("bystander's late p99: memring-uring / memring-poll ≤ %.2f× (or +%d µs)", lateWithin, lateWithinUS), Unknown: true}
	worst, unclear := 0.0, 0
	for i := range rows {
		r := &rows[i]
		poll := Find(rows, r, cases.Poll)
		if r.Engine != cases.URing.Engine || r.Late == nil || poll == nil || poll.Late == nil {
			continue
		}
		v.Unknown = false
		ratio := Compare(r, poll, KeyLate99)
		missed, noisy := ratio.Against(lateWithin, true)
		if r.Late.P99US <= poll.Late.P99US+lateWithinUS {
			missed, noisy = false, false
		}
		if noisy {
			unclear++
			continue
		}
		if v.Missed && !missed || v.Missed == missed && ratio.Mid <= worst {
			continue // a missed row is worse than any that isn't
		}
		v.Missed, worst = missed, ratio.Mid
		v.Measured = fmt.Sprintf("%.2f× round by round (medians %s and %s µs) in %s", ratio.Mid, Figure(r.Late.P99US), Figure(poll.Late.P99US), id(r))
	}
	if unclear > 0 {
		v.Noisy = !v.Missed
		v.Measured = strings.TrimPrefix(fmt.Sprintf("%s; %d rows too noisy", v.Measured, unclear), "; ")
	}
	return v
}

// Targets prints the verdicts on what was measured.
func Targets(w io.Writer, verdicts []Verdict) error {
	var b strings.Builder
	b.WriteString("\ntargets\n")
	unknown := 0
	for _, v := range verdicts {
		if v.Unknown {
			unknown++
			continue
		}
		fmt.Fprintf(&b, "  %s  %s  %s\n", pad(v.Word(), -6), pad(v.Measured, 9), v.Target)
	}
	fmt.Fprintf(&b, "  noisy: the limit lies within the figure's 95%% interval, which spans more than %.0f%%: nobody can tell\n", 100*maxInterval)
	if unknown > 0 {
		fmt.Fprintf(&b, "  %d more were not measured: this run had not the rows they compare\n", unknown)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
