package main

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
)

// onEngines runs f on both engines. io_uring is left out only where there is none.
func onEngines(t *testing.T, f func(t *testing.T, kind client.EngineKind)) {
	for _, kind := range []client.EngineKind{client.URing, client.Poll} {
		t.Run(engineName(kind), func(t *testing.T) {
			c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: kind})
			if err != nil {
				t.Skipf("there is no io_uring here, so this half cannot be tested: %v", err)
			}
			require.NoError(t, c.Close())
			f(t, kind)
		})
	}
}

// warm takes what is taken once in a process, before leaks are looked for.
var warm = sync.OnceValue(func() error {
	return (&run{settings: &settings{engines: []client.EngineKind{client.Poll}}}).warmUp(context.Background())
})

// The short form of the torture: a moment of every fault.
func TestFaults(t *testing.T) {
	require.NoError(t, warm())
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for i, f := range faults() {
			t.Run(f.name, func(t *testing.T) {
				if f.least > 0 {
					f.least = 3 * time.Second
				}
				p := planOf(uint64(i), &settings{
					engines: []client.EngineKind{kind}, faults: []fault{f},
					callers: 48, think: 2 * ms, length: 200 * ms, maxDebt: -1,
				})
				var n tally
				require.NoError(t, runRound(t.Context(), p, &n, t.Logf))
				require.Zero(t, n.wrong.Load(), "wrong answers")
				require.Zero(t, n.hangs.Load(), "hangs")
				require.Zero(t, n.leaks.Load(), "leaks")
				require.Zero(t, n.desyncs.Load(), "desyncs")
				require.Zero(t, n.unwanted.Load(), "connections lost to timeouts, although the server answered in the end")
				require.Zero(t, n.odd.Load()+n.server.Load(), "errors that should not be")
			})
		}
	})
}

// Close under load, the short form.
func TestClosing(t *testing.T) {
	require.NoError(t, warm())
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		n := new(tally)
		c := closings{engines: []client.EngineKind{kind}, tally: n, say: t.Logf}
		require.NoError(t, c.run(t.Context(), 800, 1))
		require.Positive(t, c.cut.Load(), "Close has ended calls")
		require.Zero(t, n.misclosed.Load(), "calls that ended otherwise than with ErrClosed")
		require.Zero(t, n.hangs.Load(), "hangs")
		require.Zero(t, n.leaks.Load(), "leaks")
	})
}

// TestProgram is a moment of all parts.
func TestProgram(t *testing.T) {
	var out, log bytes.Buffer
	err := torture(t.Context(), []string{
		"-seeds", "30", "-rounds", "2", "-closes", "50", "-length", "100ms", "-engine", "poll", "-faults", "none|reset", "-callers", "8",
	}, &out, &log)
	require.NoError(t, err, log.String()+out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := lines[len(lines)-1]
	seeds := "seeds=62"
	if runtime.GOOS != "linux" {
		seeds = "seeds=32" // no fakekernel
	}
	for i, key := range []string{seeds, "ops=", "wrong=0", "hangs=0", "leaks=0", "timeouts=", "recovered=100.000%", "desyncs=0", "provoked=", "broken=0"} {
		require.True(t, strings.HasPrefix(strings.Fields(last)[i], key), last)
	}
	require.Contains(t, last, "rounds=2 closes=50")
}

func TestSharesOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{settings: &settings{forTime: time.Minute}}
		got := map[string]time.Duration{}
		does := func(name string, takes time.Duration) func(context.Context, time.Duration) error {
			return func(_ context.Context, length time.Duration) error {
				got[name] = length
				time.Sleep(takes)
				return nil
			}
		}
		require.NoError(t, r.all(t.Context(), []part{
			{"simulation", 3, does("simulation", 15*time.Second)},
			{"counted", 0, does("counted", time.Hour)},
			{"closes", 2, does("closes", 5*time.Second)},
			{"servers", 4, does("servers", time.Minute)},
		}))
		require.Equal(t, map[string]time.Duration{
			"simulation": 20 * time.Second, "counted": 0, "closes": 15 * time.Second, "servers": 40 * time.Second,
		}, got)
	})
}

func TestScoreboard(t *testing.T) {
	var s scoreboard
	s.add(row{counts: counts{owed: 100, saved: 99, provoked: 5}})
	require.False(t, s.faulty())
	for _, n := range []counts{{wrong: 1}, {hangs: 1}, {leaks: 1}, {desyncs: 1}, {broken: 1}, {owed: 100, saved: 98}} {
		bad := scoreboard{rows: []row{{counts: n}}}
		require.True(t, bad.faulty(), n)
	}
	s.add(row{counts: counts{owed: 900, saved: 891, seeds: 3}})
	require.Equal(t, counts{owed: 1000, saved: 990, provoked: 5, seeds: 3}, s.total())
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-engine", "no"}, {"-faults", "nosuch"}, {"-faults", "("}, {"-callers", "0"}, {"more"}, {"-for", "0s"}, {"-nosuch"},
		{"-parts", "servers,more"}, {"-parts", ""}, {"-seeds", "-1"},
	} {
		var said bytes.Buffer
		_, err := parse(args, &said)
		require.ErrorIs(t, err, errUsage, args)
		require.NotEmpty(t, said.String(), args)
	}
}

// As many seeds in a row as there are combinations go through all of them.
func TestSeedsCoverEverything(t *testing.T) {
	s, err := parse([]string{"-engine", "both"}, new(bytes.Buffer))
	require.NoError(t, err)
	seen := make(map[string]bool)
	for seed := range uint64(2 * 2 * len(s.faults)) {
		p := planOf(1000+seed, s)
		seen[p.fault.name+engineName(p.engine)+p.network] = true
	}
	require.Len(t, seen, 2*2*len(s.faults))
	require.Equal(t, planOf(7, s).cfg, planOf(7, s).cfg)
}
