package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

// made is a finished row with n equal rounds.
func made(name, network string, callers int, c cases.Client, cpu, ops float64) Row {
	r := Row{Case: name, Network: network, Callers: callers, Client: c.Name, Engine: c.Engine, Gomaxprocs: 2,
		Title: cases.Case{Name: name, Network: network, Callers: callers}.Title(),
		Samples: map[string]Samples{
			"wall_us": {1e6 / ops, 1e6 / ops}, "cpu_us": {cpu, cpu}, "ops_per_s": {ops, ops},
			"p50_us": {10, 10}, "p99_us": {20, 20}, "p999_us": {300, 300}, "allocs_per_op": {1, 1},
		}}
	r.Finish()
	return r
}

func TestStats(t *testing.T) {
	require.InDelta(t, 2, Median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2.5, Median([]float64{4, 1, 2, 3}), 0)
	require.True(t, math.IsNaN(Median(nil)))
	require.InDelta(t, 0.5, Spread([]float64{1, 2, 3}), 1e-9)
	require.Zero(t, Spread([]float64{5}))
}

func TestFinishPrefersTheKernelsCount(t *testing.T) {
	r := made("c", "unix", 1, cases.URing, 1, 1)
	require.Nil(t, r.SyscallsOp)
	r.Samples["enters_per_op"] = Samples{1}
	r.Finish()
	require.Equal(t, SourceEngine, r.SyscallsBy)
	require.InDelta(t, 1, *r.SyscallsOp, 0)
	r.Samples["syscalls_per_op"] = Samples{1.25}
	r.Finish()
	require.Equal(t, SourceKernel, r.SyscallsBy)
	require.InDelta(t, 1.25, *r.SyscallsOp, 0)
	require.InDelta(t, 1, *r.EntersOp, 0)
}

func TestNoisyRowsAreMarked(t *testing.T) {
	r := made("c", "unix", 1, cases.URing, 1, 1)
	require.False(t, r.Noisy)
	r.Samples["cpu_us"] = Samples{1, 1.5, 2}
	r.Finish()
	require.True(t, r.Noisy)
	require.Equal(t, "~33%", spread(&r))
}

func textOf(t *testing.T, g *Grid) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, g.WriteText(&b))
	return b.String()
}

func TestTable(t *testing.T) {
	rows := []Row{
		made("get-1KiB", "unix", 8, cases.URing, 5, 120000),
		made("get-1KiB", "unix", 8, cases.Poll, 10, 80000),
		made("get-1KiB", "unix", 8, cases.GoMemcache, 20, 40000),
	}
	lines := strings.Split(textOf(t, Table(rows)), "\n")
	require.Equal(t, "get-1KiB · unix · 8 callers", lines[1])
	require.Equal(t, strings.Fields("memring-uring 8.33 5.00 10.0 20.0 300 120000 - 1.00 0.50× 1.50× 0.25× 3.00× 0%"), strings.Fields(lines[2]))
	require.Equal(t, strings.Fields("gomemcache 25.0 20.0 10.0 20.0 300 40000 - 1.00 2.00× 0.50× - - 0%"), strings.Fields(lines[4]))
	for _, l := range lines[2:5] {
		require.Equal(t, len([]rune(lines[0])), len([]rune(l)), "columns line up")
	}
}

func TestHungCallIsNamed(t *testing.T) {
	r := made("c", "unix", 8, cases.URing, 5, 120000)
	r.MaxUS = 600e3
	require.Contains(t, textOf(t, Table([]Row{r})), "HUNG: one call of memring-uring in c · unix · 8 callers took 600 ms")
}

func TestBystandersHaveTheirOwnTable(t *testing.T) {
	r := made("bystander-150us-gomaxprocs2", "unix", 8, cases.URing, 5, 1e5)
	r.Samples["late_p50_us"], r.Samples["late_p99_us"], r.Samples["late_max_us"] = Samples{60}, Samples{90}, Samples{1000}
	r.Finish()
	require.Empty(t, Table([]Row{r}).Sections)
	require.Equal(t, []string{"60.0", "90.0", "1000", "10.0", "5.00", "0%"}, Bystanders([]Row{r}).Sections[0].Lines[0].Cells)
	require.Empty(t, textOf(t, Bystanders(nil)))
}

func TestFamiliesShowTheColumnsTheyHave(t *testing.T) {
	late := made("late-1pct", "unix", 64, cases.URing, 5, 1e5)
	late.Group, late.Param, late.Unit = "late", 64, "callers"
	late.Extra = map[string]float64{"opens_per_s": 0, "deadline_ms": 50}
	other := Row{Case: "kill", Network: "unix", Client: "gomemcache", Group: "a new one", Title: "kill · unix"}
	other.Extra = map[string]float64{"back_us": 12}
	other.Finish()
	rows := []Row{made("get", "unix", 1, cases.URing, 5, 1e5), late, other}

	require.Len(t, Tables(rows), 3)
	g := Families(rows)[0].Table(rows)
	require.Equal(t, "Late replies", g.Title)
	require.Equal(t, []string{"callers", "ops/s", "CPU µs", "p50 µs", "p99 µs", "p99.9 µs", "allocs", "deadline ms", "opens/s", "spread"}, g.Heads)
	require.Equal(t, []string{"64", "100000", "5.00", "10.0", "20.0", "300", "1.00", "50.0", "0.00", "0%"}, g.Sections[0].Lines[0].Cells)
	g = Families(rows)[1].Table(rows)
	require.Equal(t, "a new one", g.Title)
	require.Equal(t, []string{"back µs"}, g.Heads, "without samples there is nothing else to show")
	require.Contains(t, textOf(t, g), "kill · unix\n  gomemcache")
}

func TestTextHasItAll(t *testing.T) {
	run := &Saved{Header: Here(), Rows: []Row{made("get-1KiB", "unix", 8, cases.URing, 5, 1e5), made("get-1KiB", "unix", 8, cases.Poll, 5, 1e5)}}
	var b bytes.Buffer
	require.NoError(t, run.Text(&b))
	for _, want := range []string{"machine  ", "get-1KiB · unix · 8 callers", "\ntargets\n", "\nnoise: all 2 ratios can be judged"} {
		require.Contains(t, b.String(), want)
	}
}
