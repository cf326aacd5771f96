package compare

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
)

// nine rounds around a centre, with a spread of ±4%.
func nine(centre float64) report.Samples {
	var out report.Samples
	for _, percent := range []float64{0, 3, -2, 1, -4, 4, -1, 2, -3} {
		out = append(out, centre*(1+percent/100))
	}
	return out
}

func row(name string, c cases.Client, cpu float64) report.Row {
	of := cases.Case{Name: name, Network: "unix", Callers: 8}
	r := report.Row{Case: of.Name, Network: of.Network, Callers: of.Callers, Client: c.Name, Engine: c.Engine, Title: of.Title(),
		Samples: map[string]report.Samples{report.KeyCPU: nine(cpu), report.KeyOps: nine(1e6 / cpu), report.KeyAllocs: {1, 1, 1, 1, 1, 1}}}
	r.Finish()
	return r
}

func run(rows ...report.Row) *report.Saved {
	return &report.Saved{Rows: rows, Header: report.Run{
		Command: "go run .", Date: "2026-01-02T03:04:05Z", Machine: "m", Kernel: "k", Go: "1.26",
		Settings: []report.Setting{{Name: "rounds", Value: "9"}, {Name: "cases", Value: ""}},
	}}
}

func text(t *testing.T, before, after *report.Saved) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Write(&b, before, after))
	return b.String()
}

// TestKnownDifferences: what is +20%, -20%, within the noise, or gone must be told as that.
func TestKnownDifferences(t *testing.T) {
	before := run(row("slower", cases.URing, 10), row("faster", cases.URing, 10), row("same", cases.URing, 10), row("gone", cases.Poll, 10))
	after := run(row("slower", cases.URing, 12), row("faster", cases.URing, 8), row("same", cases.URing, 10.1), row("added", cases.Poll, 10))
	out := text(t, before, after)
	cpu, rest, _ := strings.Cut(out, "\nops/s: more is better\n")
	fields := func(in, name string) []string {
		m := regexp.MustCompile(name + ` · unix · 8 callers\n  memring-uring(.*)\n`).FindStringSubmatch(in)
		require.NotNil(t, m, "%s in %s", name, in)
		return strings.Fields(m[1])
	}
	require.Equal(t, strings.Fields("10.0 3% 12.0 3% +20.00% worse p=0.000 n=9"), fields(cpu, "slower"))
	require.Equal(t, strings.Fields("10.0 3% 8.00 3% -20.00% better p=0.000 n=9"), fields(cpu, "faster"))
	require.Equal(t, "~", fields(cpu, "same")[4])
	require.Equal(t, "worse", fields(rest, "slower")[5], "fewer operations per second")
	require.Contains(t, out, "only in old: gone · unix · 8 callers, memring-poll\n")
	require.Contains(t, out, "only in new: added · unix · 8 callers, memring-poll\n")
	require.Regexp(t, `geomean +10.0 +9.90 +-1.02%`, cpu, "the geometric mean of 12, 8 and 10.1 against 10")
	require.Contains(t, out, "\n4 of 9 figures differ")
	require.NotContains(t, out, "NOT MADE ALIKE")
	require.Contains(t, out, "all samples are equal")
}

// TestDriftOfTheMachine: if everything has become slower alike, the ratios have not.
func TestDriftOfTheMachine(t *testing.T) {
	before := run(row("get", cases.URing, 10), row("get", cases.GoMemcache, 20))
	after := run(row("get", cases.URing, 15), row("get", cases.GoMemcache, 30))
	pairs, _, _ := match(before.Rows, after.Rows)
	require.Len(t, pairs, 2)
	signs := map[string]int{}
	for _, u := range units {
		for _, d := range u.in(pairs, before.Rows, after.Rows).diffs {
			if d.row.Client == cases.URing.Name {
				signs[u.title] = d.sign()
			}
		}
	}
	require.Equal(t, map[string]int{
		"CPU µs/op": 1, "ops/s": -1, "CPU time, times gomemcache's": 0, "throughput, times gomemcache's": 0, "allocs/op": 0,
	}, signs)
	require.Equal(t, 10.0, before.Rows[0].Samples[report.KeyCPU][0], "the samples keep their order")
}

func TestFewRoundsProveNothing(t *testing.T) {
	before, after := run(row("get", cases.URing, 10)), run(row("get", cases.URing, 20))
	for _, r := range []*report.Row{&before.Rows[0], &after.Rows[0]} {
		for key, v := range r.Samples {
			r.Samples[key] = v[:3]
		}
	}
	out := text(t, before, after)
	require.Contains(t, out, "0 of 3 figures differ")
	require.Contains(t, out, "need >= 6 samples for confidence interval")
	require.Contains(t, out, "∞")
}

func TestRowsOfAnotherPointAreNotTheSame(t *testing.T) {
	a, b := row("get", cases.URing, 10), row("get", cases.URing, 10)
	a.Group, a.Param, b.Group, b.Param = "sizes", 100, "sizes", 1000
	pairs, onlyOld, onlyNew := match([]report.Row{a}, []report.Row{b})
	require.Empty(t, pairs)
	require.Len(t, onlyOld, 1)
	require.Len(t, onlyNew, 1)
}

func TestRunsThatWereNotMadeAlike(t *testing.T) {
	before, after := run(row("get", cases.URing, 10)), run(row("get", cases.URing, 10))
	after.Header.Machine, after.Header.Date, after.Header.Commit = "another", "2026-02-02T03:04:05Z", "abc"
	after.Header.Settings = []report.Setting{{Name: "rounds", Value: "3"}, {Name: "cases", Value: "get"}, {Name: "rate", Value: "5000"}}
	require.Equal(t, []string{"machine: m, now another", "rounds: 9, now 3", "rate: not set, now 5000"}, unlike(before.Header, after.Header))
	require.Contains(t, text(t, before, after), "THE RUNS WERE NOT MADE ALIKE")
}

func TestNothingInCommon(t *testing.T) {
	require.Contains(t, text(t, run(), run(row("get", cases.URing, 10))), "0 of 0 figures differ")
}
