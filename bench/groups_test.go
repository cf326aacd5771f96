package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/report"
)

// runs measures and returns what was printed and the rows by client, in all.
func runs(t *testing.T, args ...string) (string, []report.Row) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.json")
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer log.Close()
	var out bytes.Buffer
	require.NoError(t, bench(append(args, "-json", name), &out, log))
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var saved report.Saved
	require.NoError(t, json.Unmarshal(b, &saved))
	return out.String(), saved.Rows
}

func of(rows []report.Row, who string) (found []report.Row) {
	for _, r := range rows {
		if r.Who() == who {
			found = append(found, r)
		}
	}
	return found
}

// TestGroupsEndToEnd needs memcached on PATH. Clients that io_uring is refused to are left out, and the
// report says so.
func TestGroupsEndToEnd(t *testing.T) {
	out, rows := runs(t, "-rounds", "2", "-slice", "20ms", "-cases",
		`^(seeds-(get-512KiB|multiget-40x12KiB)/.*|sizes-set-64KiB/unix/1|leases-get-64KiB/.*|typed-.et-1KiB/.*|queue-handover/none/8|limit-.*|recovery-get-1KiB/unix/64)$`)
	for who, groups := range map[string]int{"memring-poll": 4, "gomemcache": 3, "memring-handover": 1, "channel": 1, "mutex+cond": 1, "bare-read+write": 1} {
		require.Len(t, of(rows, who), groups, who)
	}
	if len(of(rows, "memring-uring")) == 0 {
		require.Contains(t, out, "ALL ROWS OF memring-uring ARE LEFT OUT", "a machine without io_uring is told")
	} else {
		require.Len(t, of(rows, "memring-uring"), 8)
		require.Len(t, of(rows, "memring-uring-plain"), 2)
		require.Len(t, of(rows, "memring-uring-copy"), 1)
		require.Contains(t, out, "sizes-set-64KiB/unix/1: memring-uring / memring-uring-copy CPU")
		lent := slices.DeleteFunc(of(rows, "memring-uring"), func(r report.Row) bool { return r.Group != "leases" })
		require.Len(t, lent, 1)
		for _, who := range []string{"memring-uring-append", "memring-uring-lease"} {
			require.Len(t, of(rows, who), 1)
			require.Less(t, of(rows, who)[0].AllocsOp, lent[0].AllocsOp, "%s uses its memory again", who)
		}
		for _, who := range []string{"memring-uring-typed-bytes", "memring-uring-typed-json", "memring-uring-typed-json-gzip"} {
			require.Len(t, of(rows, who), 2)
			for _, r := range of(rows, who) {
				require.Equal(t, "typed", r.Group)
				require.Positive(t, r.Extra["cpu_ratio_to_memring-uring"], "what the typed cache costs")
			}
		}
		require.Len(t, of(rows, "bare-uring"), 1)
		require.Len(t, of(rows, "memring-uring-unchecked"), 1, "%s", out)
		require.Contains(t, of(rows, "memring-uring-unchecked")[0].Extra, "cpu_ratio_to_memring-uring-unchecked")
	}
	size := of(rows, "gomemcache")[2]
	require.Equal(t, "bytes", size.Unit)
	require.InDelta(t, 64<<10, size.Param, 0)
	require.Positive(t, of(rows, "memring-handover")[0].Extra["ns_per_op"])
}

func TestLateEndToEnd(t *testing.T) {
	_, rows := runs(t, "late", "-quick", "-rounds", "1", "-cases", "stall", "-clients", "poll|gomemcache")
	require.Len(t, rows, 2)
	for _, r := range rows {
		require.Equal(t, "late", r.Group)
		require.Len(t, r.Series, 10)
		var errors float64
		for _, tick := range r.Series {
			errors += tick.Errors
		}
		require.Positive(t, errors, "%s: the stall is in the series", r.Who())
	}
	require.Positive(t, of(rows, "gomemcache")[0].Extra["opens_per_s"], "a timeout costs it the connection")
	require.LessOrEqual(t, of(rows, "memring-poll")[0].Extra["opens_per_s"], 128.0, "but not memring, which opens 2 connections and 126 spare ones, each once")
}

func TestRateEndToEnd(t *testing.T) {
	_, rows := runs(t, "core", "-rate", "2000", "-rounds", "1", "-slice", "200ms", "-cases", "^get-1KiB/unix/8$", "-clients", "poll")
	require.Len(t, rows, 1)
	require.InDelta(t, 2000, rows[0].Extra["rate_per_s"], 0)
	require.LessOrEqual(t, rows[0].OpsPerS, 2010.0)
}
