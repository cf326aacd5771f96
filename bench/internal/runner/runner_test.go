package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
	"github.com/memring/memring/bench/internal/worker"
)

func TestWorkAddsUpWhatRuns(t *testing.T) {
	o := Options{Rounds: 5, Slice: 100, Warm: 10, Count: 7, CountTurns: 3, Tracepoint: 1}
	all := []cases.Case{
		{Clients: []cases.Client{cases.URing, cases.Poll}},
		{Clients: []cases.Client{cases.URing}, Bystander: true, MaxRounds: 2, Stretch: 2},
	}
	require.Equal(t, time.Duration(2*(10+5*100+3*7)+(10+2*200)), work(all, o))
	o.Tracepoint = 0
	require.Equal(t, time.Duration(2*(10+5*100)+(10+2*200)), work(all, o))
	o.Tracepoint, all[0].MaxCounts = 1, 2
	require.Equal(t, time.Duration(2*(10+5*100+2*7)+(10+2*200)), work(all, o), "fewer turns with the counter")
}

func TestRowFromSamples(t *testing.T) {
	c := cases.Case{Name: "c", Network: "tcp", Callers: 3}
	r := newRow(c, cases.URing, Options{Gomaxprocs: 2})
	for _, ops := range []uint64{100, 200, 400} {
		add(&r, worker.Sample{
			Ops: ops, Wall: time.Millisecond, CPU: 500 * time.Microsecond, P50: 5 * time.Microsecond,
			P99: 6 * time.Microsecond, P999: 7 * time.Microsecond, Mallocs: ops, Enters: ops / 2, HasEnters: true,
		})
	}
	addCount(&r, worker.Sample{Ops: 10, Syscalls: 12, Counted: true})
	addCount(&r, worker.Sample{Ops: 10})
	r.Finish()
	require.InDelta(t, 5, r.WallUS, 1e-9)
	require.InDelta(t, 2.5, r.CPUUS, 1e-9)
	require.InDelta(t, 200000, r.OpsPerS, 1e-6)
	require.InDelta(t, 1, r.AllocsOp, 1e-9)
	require.InDelta(t, 1.2, *r.SyscallsOp, 1e-9)
	require.InDelta(t, 0.5, *r.EntersOp, 1e-9)
	require.Equal(t, 3, r.Rounds)
	require.Equal(t, 2, r.Gomaxprocs)
	require.Nil(t, r.Late)
}

func TestRoundWithoutSuccess(t *testing.T) {
	e := &entry{c: cases.Case{Tick: time.Second}, row: newRow(cases.Case{}, cases.URing, Options{})}
	e.add(worker.Sample{Ops: 100, Wall: time.Second, CPU: time.Second, Max: time.Second, Ticks: make([]worker.Tick, 1)})
	e.add(worker.Sample{Errors: 100, Wall: time.Second, CPU: time.Second, Max: 2 * time.Second, Ticks: make([]worker.Tick, 1)})
	e.finish()
	require.InDelta(t, 50, e.row.OpsPerS, 1e-9)
	require.InDelta(t, 1e4, e.row.WallUS, 1e-9, "of the round that has one")
	require.InDelta(t, 50, e.row.Extra[keyErrors], 1e-9)
	require.InDelta(t, 2e6, e.row.MaxUS, 1e-9)
}

func TestSeriesIsOfATypicalRound(t *testing.T) {
	e := &entry{c: cases.Case{Tick: 100 * time.Millisecond, Deadline: 50 * time.Millisecond, Group: "late"}}
	e.row = newRow(e.c, cases.URing, Options{})
	for _, ops := range []uint64{300, 100, 200} {
		e.add(worker.Sample{Ops: ops, Errors: ops / 10, Wall: time.Second, Ticks: []worker.Tick{
			{Ops: ops / 2, Dials: 1, P99: time.Millisecond}, {Ops: ops / 2, Errors: 3, Dials: 4},
		}})
	}
	e.finish()
	require.Equal(t, []report.Tick{
		{At: 0.1, Ops: 1000, Dials: 10, P99us: 1000},
		{At: 0.2, Ops: 1000, Errors: 30, Dials: 40},
	}, e.row.Series)
	require.Equal(t, map[string]float64{"errors_per_s": 20, "opens_per_s": 5, "deadline_ms": 50}, e.row.Extra)
	require.Equal(t, "late", e.row.Group)
}
