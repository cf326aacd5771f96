package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

// TestJSONKeys fixes what readers of the file rely on.
func TestJSONKeys(t *testing.T) {
	var b bytes.Buffer
	run := &Saved{Rows: []Row{made("get-1KiB", "unix", 8, cases.URing, 5, 1e5), made("get-1KiB", "unix", 8, cases.GoMemcache, 5, 1e5)}}
	require.NoError(t, run.WriteJSON(&b))
	var file struct{ Rows []map[string]any }
	require.NoError(t, json.Unmarshal(b.Bytes(), &file))
	rows := file.Rows
	require.Len(t, rows, 2)
	keys := []string{"case", "network", "callers", "client", "engine", "wall_us", "cpu_us", "p50_us", "p99_us",
		"p999_us", "ops_per_s", "syscalls_per_op", "allocs_per_op"}
	for _, k := range keys {
		require.Contains(t, rows[0], k)
	}
	require.Equal(t, "uring", rows[0]["engine"])
	require.Equal(t, "gomemcache", rows[1]["client"])
	require.Empty(t, rows[1]["engine"])
	require.Nil(t, rows[1]["syscalls_per_op"])
	order := regexp.MustCompile(`(?m)^      "(\w+)":`).FindAllStringSubmatch(b.String(), len(keys))
	for i, k := range keys {
		require.Equal(t, k, order[i][1])
	}
}

func TestSavedRunComesBackWhole(t *testing.T) {
	row := made("late", "unix", 8, cases.URing, 5, 1e5)
	row.Group, row.Param, row.Unit = "late", 8, "callers"
	row.Series = []Tick{{At: 0.1, Ops: 1e5, Errors: 3, Dials: 1, P99us: 50000}}
	row.Extra = map[string]float64{"dials_per_s": 0.5}
	run := &Saved{Header: Here(), Rows: []Row{row}}
	run.Header.Command, run.Header.Settings, run.Header.Notes = "go run .", []Setting{{"rounds", "9"}}, []string{"<none>"}
	var b bytes.Buffer
	require.NoError(t, run.WriteJSON(&b))
	back, err := Read(&b)
	require.NoError(t, err)
	require.Equal(t, run, back)

	b.Reset()
	require.NoError(t, (&Saved{}).WriteJSON(&b))
	require.Contains(t, b.String(), `"rows": []`)
}

func TestReadRefusesWhatIsNoRun(t *testing.T) {
	for text, want := range map[string]string{
		`[{"case":"get"}]`: "bare array",
		`{"rows":[]}`:      "no header",
		`nothing`:          "not a saved run",
		``:                 "not a saved run",
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestHeaderSaysHowToRunItAgain(t *testing.T) {
	run := Here()
	run.Command, run.Memcached, run.Clients = "go run . -quick", "1.6.18", []string{"memring x", "gomemcache y"}
	run.Settings, run.Notes = []Setting{{"rounds", "9"}, {"slice", "350ms"}}, []string{"something is missing"}
	var b bytes.Buffer
	require.NoError(t, Header(&b, run))
	for _, want := range []string{
		"command     go run . -quick\n", "memcached   1.6.18\n", "clients     memring x, gomemcache y\n",
		"settings    rounds=9 slice=350ms\n", "NOTE        something is missing\n", "machine     ", "kernel      ", "date        2",
	} {
		require.Contains(t, b.String(), want)
	}
}
