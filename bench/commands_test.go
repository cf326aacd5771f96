package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
)

// savedRun is the file of a made-up run in which one operation takes cpu µs.
func savedRun(t *testing.T, cpu float64) string {
	t.Helper()
	run := &report.Saved{Header: report.Here()}
	for _, c := range []cases.Client{cases.URing, cases.Poll} {
		r := report.Row{Case: "get-1KiB", Network: "unix", Callers: 8, Client: c.Name, Engine: c.Engine, Title: "get-1KiB · unix · 8 callers",
			Samples: map[string]report.Samples{}}
		for i := range 9 {
			v := cpu * (1 + float64(i)/1000)
			r.Samples[report.KeyCPU] = append(r.Samples[report.KeyCPU], v)
			r.Samples[report.KeyWall] = append(r.Samples[report.KeyWall], v)
			r.Samples[report.KeyOps] = append(r.Samples[report.KeyOps], 1e6/v)
		}
		r.Finish()
		run.Rows = append(run.Rows, r)
	}
	name := filepath.Join(t.TempDir(), "run.json")
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, errors.Join(run.WriteJSON(f), f.Close()))
	return name
}

func TestReportOfASavedRun(t *testing.T) {
	name := savedRun(t, 5)
	var out bytes.Buffer
	require.NoError(t, run([]string{"report", name}, &out, os.Stderr))
	require.Contains(t, out.String(), "get-1KiB · unix · 8 callers")

	page := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, run([]string{"report", name, "-o", page}, io.Discard, os.Stderr), "flags may come last")
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(b), "get-1KiB · unix · 8 callers")
}

func TestChartsOfASavedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var out bytes.Buffer
	require.NoError(t, run([]string{"charts", "-dir", dir, savedRun(t, 5), "-only", "cpu"}, &out, os.Stderr))
	require.Contains(t, out.String(), filepath.Join(dir, "all-against-poll-cpu-unix.svg"))
	require.FileExists(t, filepath.Join(dir, "all-against-poll-cpu-unix.svg"))
	require.NoFileExists(t, filepath.Join(dir, "all-against-poll-throughput-unix.svg"))
}

func TestCompareSavedRuns(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"compare", savedRun(t, 5), savedRun(t, 6)}, &out, os.Stderr))
	require.Regexp(t, `memring-uring +5\.02 +0% +6\.02 +0% +\+20\.00% +worse`, out.String())
}

func TestCommandsRefuse(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer log.Close()
	for _, args := range [][]string{{"report"}, {"report", "a", "b"}, {"charts", "-nosuch"}, {"compare", "a"}, {"nosuch"}} {
		require.ErrorIs(t, run(args, io.Discard, log), errUsage, args)
	}
	require.ErrorIs(t, run([]string{"report", filepath.Join(t.TempDir(), "none")}, io.Discard, log), os.ErrNotExist)
	wrong := filepath.Join(t.TempDir(), "wrong.json")
	require.NoError(t, os.WriteFile(wrong, []byte("[]"), 0o600))
	require.ErrorContains(t, run([]string{"report", wrong}, io.Discard, log), "wrong.json: it is a bare array")
}

// TestEarlierFilesOutliveAFailedRun: minutes of work must not be lost to a run that was interrupted.
func TestEarlierFilesOutliveAFailedRun(t *testing.T) {
	old, fresh := filepath.Join(t.TempDir(), "old.json"), filepath.Join(t.TempDir(), "new.html")
	earlier := bytes.Repeat([]byte("earlier"), 10000)
	require.NoError(t, os.WriteFile(old, earlier, 0o600))
	o, err := create(&settings{jsonFile: old, htmlFile: fresh})
	require.NoError(t, err)
	require.NoError(t, o.close())
	b, err := os.ReadFile(old)
	require.NoError(t, err)
	require.Equal(t, earlier, b)
	require.NoFileExists(t, fresh)

	o, err = create(&settings{jsonFile: old})
	require.NoError(t, err)
	require.NoError(t, o.write(&report.Saved{Header: report.Here()}, io.Discard))
	require.NoError(t, o.close())
	b, err = os.ReadFile(old)
	require.NoError(t, err)
	require.True(t, json.Valid(b), "nothing of the longer one is left")
	_, err = create(&settings{jsonFile: old, htmlFile: filepath.Join(t.TempDir(), "no", "folder")})
	require.Error(t, err)
}
