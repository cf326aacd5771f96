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

func TestTable(t *testing.T) {
	rows := []Row{
		made("get-1KiB", "unix", 8, cases.URing, 5, 120000),
		made("get-1KiB", "unix", 8, cases.Poll, 10, 80000),
		made("get-1KiB", "unix", 8, cases.GoMemcache, 20, 40000),
	}
	var b bytes.Buffer
	require.NoError(t, Table(&b, rows))
	lines := strings.Split(b.String(), "\n")
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
	var b bytes.Buffer
	require.NoError(t, Table(&b, []Row{r}))
	require.Contains(t, b.String(), "HUNG: one call of memring-uring in c · unix · 8 callers took 600 ms")
}

func TestBystandersHaveTheirOwnTable(t *testing.T) {
	r := made("bystander-150us-gomaxprocs2", "unix", 8, cases.URing, 5, 1e5)
	r.Samples["late_p50_us"], r.Samples["late_p99_us"], r.Samples["late_max_us"] = Samples{60}, Samples{90}, Samples{1000}
	r.Finish()
	var b bytes.Buffer
	require.NoError(t, Table(&b, []Row{r}))
	require.NotContains(t, b.String(), "bystander")
	b.Reset()
	require.NoError(t, Bystanders(&b, []Row{r}))
	require.Contains(t, b.String(), "60.0      90.0      1000")
	b.Reset()
	require.NoError(t, Bystanders(&b, nil))
	require.Empty(t, b.String())
}
