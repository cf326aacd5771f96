package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/report"
)

// TestMain lets the test binary play the other processes of a run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		part(os.Args[1], os.Args[2:])
	}
	os.Exit(m.Run())
}

// TestRunEndToEnd needs memcached on PATH; scripts/memcached.sh installs it.
func TestRunEndToEnd(t *testing.T) {
	temp, name, htmlName := t.TempDir(), filepath.Join(t.TempDir(), "run.json"), filepath.Join(t.TempDir(), "page.html")
	t.Setenv("TMPDIR", temp)
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer log.Close()
	var out bytes.Buffer
	err = bench([]string{"-rounds", "1", "-slice", "10ms", "-json", name, "-html", htmlName,
		"-cases", `^(get-1KiB/.*/8|get-1KiB-150us/unix/1|(getappend|set)-1KiB/unix/64|multiget-40x100B/tcp/1|bystander-150us-gomaxprocs2/unix/8)$`}, &out, log)
	require.NoError(t, err)
	require.Contains(t, out.String(), "get-1KiB · unix · 8 callers")
	require.Contains(t, out.String(), "targets")
	require.Contains(t, out.String(), "memcached   1.")

	require.Contains(t, out.String(), "page:      "+htmlName)
	html, err := os.ReadFile(htmlName)
	require.NoError(t, err)
	require.Contains(t, string(html), "get-1KiB · unix · 8 callers")

	saved, err := os.Open(name)
	require.NoError(t, err)
	defer saved.Close()
	run, err := report.Read(saved)
	require.NoError(t, err)
	require.Contains(t, run.Header.Command, "-rounds 1 -slice 10ms")
	require.Contains(t, run.Header.Settings, report.Setting{Name: "rounds", Value: "1"})
	engines := map[string]int{}
	for _, r := range run.Rows {
		engines[r.Who()]++
		require.Positive(t, r.OpsPerS, r.Case)
		require.Positive(t, r.CPUUS, r.Case)
		if r.Case == "get-1KiB-150us" {
			require.GreaterOrEqual(t, r.P50US, 150.0, "the stand-in answers no earlier than it should")
		}
	}
	if engines["memring-uring"] == 0 {
		require.Contains(t, out.String(), "ALL ROWS OF memring-uring ARE LEFT OUT", "a machine without io_uring is told")
		engines["memring-uring"], engines["memring-gomemcache-api"] = 7, 2
	}
	require.Equal(t, map[string]int{
		"memring-uring": 7, "memring-gomemcache-api": 2, "memring-poll": 7, "gomemcache": 5, "grafana": 2, "go-memcache": 2,
	}, engines)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left, "sockets and folders are gone")
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-cases", "("}, {"-cases", "nosuch"}, {"-rounds", "-1"}, {"-port", "70000"}, {"more"}, {"-nosuch"}} {
		var said bytes.Buffer
		_, err := parse(args, &said)
		require.ErrorIs(t, err, errUsage, args)
		require.NotEmpty(t, said.String(), args)
	}
}

func TestFlagsOfARun(t *testing.T) {
	full, err := parse(nil, io.Discard)
	require.NoError(t, err)
	quick, err := parse([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "go run . -quick", quick.command)
	require.Less(t, len(quick.cases), len(full.cases))
	require.Less(t, quick.rounds, full.rounds)
	require.Contains(t, full.saved, report.Setting{Name: "rounds", Value: "9"}, "what 0 stands for")
	require.Equal(t, `go run . -cases '^(get|it'\''s)$' -rounds=2`, typed([]string{"-cases", "^(get|it's)$", "-rounds=2"}))
}
