package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
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

func TestProgram(t *testing.T) {
	var out, log bytes.Buffer
	err := torture(t.Context(), []string{
		"-seeds", "2", "-length", "100ms", "-engine", "poll", "-faults", "none|reset", "-callers", "8", "-closes", "50",
	}, &out, &log)
	require.NoError(t, err, log.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := lines[len(lines)-1]
	for i, key := range []string{"seeds=2", "ops=", "wrong=0", "hangs=0", "leaks=0", "timeouts=", "recovered=", "desyncs=0"} {
		require.True(t, strings.HasPrefix(strings.Fields(last)[i], key), last)
	}
	require.Contains(t, last, "closes=50 misclosed=0")
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-engine", "no"}, {"-faults", "nosuch"}, {"-faults", "("}, {"-callers", "0"}, {"more"}, {"-for", "1s", "-seeds", "1"}, {"-nosuch"},
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
