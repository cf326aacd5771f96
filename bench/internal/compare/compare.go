// Package compare tells what differs between two saved runs, by benchstat's method and with its package:
// medians with 95% confidence intervals, and the Mann-Whitney U test for whether they differ at all.
//
// Absolute times drift with the machine. Where both runs have gomemcache, which didn't change between
// them, the ratios to it are compared as well, round by round: from those, drift cancels out.
package compare

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
)

// unit is one figure that is compared.
type unit struct {
	title  string
	key    string
	more   bool         // more of it is better
	to     cases.Client // zero: the figure itself; else its ratio to this client's
	figure func(float64) string
}

var units = []unit{
	{"CPU µs/op", report.KeyCPU, false, cases.Client{}, report.Figure},
	{"ops/s", report.KeyOps, true, cases.Client{}, fixed(0)},
	{"CPU time, times gomemcache's", report.KeyCPU, false, cases.GoMemcache, fixed(3)},
	{"throughput, times gomemcache's", report.KeyOps, true, cases.GoMemcache, fixed(3)},
	{"p50 µs", report.KeyP50, false, cases.Client{}, report.Figure},
	{"p99 µs", report.KeyP99, false, cases.Client{}, report.Figure},
	{"allocs/op", report.KeyAllocs, false, cases.Client{}, fixed(2)},
	{"system calls/op", report.KeyCalls, false, cases.Client{}, fixed(2)},
}

func fixed(digits int) func(float64) string {
	return func(v float64) string { return fmt.Sprintf("%.*f", digits, v) }
}

// diff is one row's figure in both runs.
type diff struct {
	row      report.Row // the new one
	old, new benchmath.Summary
	test     benchmath.Comparison
}

// sign of the difference: 0 if the test found none.
func (d diff) sign() int {
	switch {
	case d.test.P > d.test.Alpha || d.old.Center == d.new.Center:
		return 0
	case d.new.Center < d.old.Center:
		return -1
	}
	return 1
}

// compared is all rows' figures in one unit.
type compared struct {
	unit  unit
	diffs []diff
	notes []string // benchmath's warnings, each once
}

// pair is a row of both runs.
type pair struct{ old, new *report.Row }

// match finds the rows that both runs have, and names those that only one has.
func match(before, after []report.Row) (both []pair, onlyOld, onlyNew []string) {
	for i := range after {
		r := &after[i]
		if o := report.Find(before, r, who(r)); o != nil {
			both = append(both, pair{o, r})
			continue
		}
		onlyNew = append(onlyNew, name(r))
	}
	for i := range before {
		if r := &before[i]; report.Find(after, r, who(r)) == nil {
			onlyOld = append(onlyOld, name(r))
		}
	}
	return both, onlyOld, onlyNew
}

func who(r *report.Row) cases.Client { return cases.Client{Name: r.Client, Engine: r.Engine} }
func name(r *report.Row) string      { return fmt.Sprintf("%s, %s", r.Title, r.Who()) }

// in compares the rows in one unit; those without samples of it in both runs are left out.
func (u unit) in(pairs []pair, before, after []report.Row) compared {
	out := compared{unit: u}
	note := func(warnings []error) {
		for _, w := range warnings {
			if !slices.Contains(out.notes, w.Error()) {
				out.notes = append(out.notes, w.Error())
			}
		}
	}
	for _, p := range pairs {
		a, b := u.samples(p.old, before), u.samples(p.new, after)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		was, is := benchmath.NewSample(a, &benchmath.DefaultThresholds), benchmath.NewSample(b, &benchmath.DefaultThresholds)
		d := diff{
			row: *p.new, old: benchmath.AssumeNothing.Summary(was, confidence), new: benchmath.AssumeNothing.Summary(is, confidence),
			test: benchmath.AssumeNothing.Compare(was, is),
		}
		note(d.old.Warnings)
		note(d.new.Warnings)
		note(d.test.Warnings)
		out.diffs = append(out.diffs, d)
	}
	return out
}

const confidence = 0.95

// samples of a row: a copy, since benchmath sorts what it gets.
func (u unit) samples(r *report.Row, rows []report.Row) []float64 {
	own := r.Samples[u.key]
	if u.to.Name == "" {
		return slices.Clone(own)
	}
	to := report.Find(rows, r, u.to)
	if to == nil || who(r) == u.to || len(to.Samples[u.key]) != len(own) {
		return nil
	}
	var out []float64
	for i, v := range own {
		out = append(out, v/to.Samples[u.key][i])
	}
	return out
}

// geomean of all rows, before and after, as far as they have one; of none it is NaN.
func (c compared) geomean() (before, after float64) {
	n := 0.0
	for _, d := range c.diffs {
		if d.old.Center > 0 && d.new.Center > 0 {
			before, after, n = before+math.Log(d.old.Center), after+math.Log(d.new.Center), n+1
		}
	}
	return math.Exp(before / n), math.Exp(after / n)
}

// unlike lists what the two runs' headers disagree in that may explain differences.
func unlike(before, after report.Run) []string {
	old := map[string]string{}
	for _, f := range before.Facts() {
		old[f.Name] = f.Value
	}
	var out []string
	for _, f := range after.Facts() {
		if slices.Contains([]string{"command", "date", "commit", "settings"}, f.Name) {
			continue // settings are compared one by one; of the rest, the reader knows
		}
		if old[f.Name] != f.Value {
			out = append(out, fmt.Sprintf("%s: %s, now %s", f.Name, old[f.Name], f.Value))
		}
	}
	value := func(settings []report.Setting, name string) string {
		for _, s := range settings {
			if s.Name == name {
				return s.Value
			}
		}
		return "not set"
	}
	var names []string
	for _, s := range slices.Concat(before.Settings, after.Settings) {
		// Which cases and clients ran shows in the rows.
		if !slices.Contains([]string{"cases", "clients"}, s.Name) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	for _, n := range names {
		if a, b := value(before.Settings, n), value(after.Settings, n); a != b {
			out = append(out, fmt.Sprintf("%s: %s, now %s", n, a, b))
		}
	}
	return out
}
