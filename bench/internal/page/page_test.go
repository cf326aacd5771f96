package page

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/report"
)

var all = regexp.MustCompile("")

func pageOf(t *testing.T, run *report.Saved) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Write(&b, run))
	return b.String()
}

// wellFormed reads a document to its end. The page is written so that it is XML as well, which unlike
// HTML says whether every element is closed. It returns the text in it.
func wellFormed(t *testing.T, name, document string) string {
	t.Helper()
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		require.NoError(t, err, name)
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

func TestPageHasEverything(t *testing.T) {
	run := invented()
	html := pageOf(t, run)
	text := wellFormed(t, "page", html)
	for _, r := range run.Rows {
		require.Contains(t, text, r.Title)
	}
	for _, f := range run.Header.Facts() {
		require.Contains(t, text, f.Value, f.Name)
	}
	for _, want := range []string{
		"go run . -rate '<5000>'", "invented <rows>", "opens/s", "Late replies", "ratios are too noisy to judge",
		"not measured", "memring-uring / memring-poll CPU ≤ 0.70×", "viewport",
	} {
		require.Contains(t, text+html, want)
	}
	for _, word := range []string{"met", "missed"} {
		require.Contains(t, html, `<td class="`+word+`">`)
	}
	require.Contains(t, html, "prefers-color-scheme:dark")
	require.NotContains(t, html, "NaN")
}

func TestPageNeedsNothingFromElsewhere(t *testing.T) {
	for _, bad := range []string{`https?:`, `(?i)<(script|link|img|iframe|object)`, `src=`, `@import`, `url\(`, `href="[^#]`} {
		require.NotRegexp(t, regexp.MustCompile(bad), pageOf(t, invented()))
	}
}

func TestNoisyRunSaysSoFirst(t *testing.T) {
	run := invented()
	for _, r := range run.Rows {
		for key, values := range r.Samples {
			for i := range values {
				values[i] *= float64(1 + (i+len(r.Client)+2*len(r.Engine))%3) // each client another pattern
			}
			r.Samples[key] = values
		}
	}
	html := pageOf(t, run)
	require.Contains(t, html, "THIS RUN IS TOO NOISY TO JUDGE")
	require.Contains(t, html, `class="verdict loud"`)
	require.Contains(t, html, `<td class="noisy">`)
}

func TestPageOfAlmostNothing(t *testing.T) {
	run := &report.Saved{Rows: []report.Row{{Case: "c", Network: "unix", Callers: 1, Client: "new <client>", Title: "c · unix"}}}
	require.Contains(t, wellFormed(t, "page", pageOf(t, run)), "new <client>")
	run.Rows = nil
	wellFormed(t, "empty page", pageOf(t, run))
	_, err := Charts(t.TempDir(), all, run)
	require.ErrorContains(t, err, "no such chart")
}

// TestChartsAreFiles: KEEP=DIR leaves the invented page and its charts there, to be looked at.
func TestChartsAreFiles(t *testing.T) {
	dir := os.Getenv("KEEP")
	if dir == "" {
		dir = t.TempDir()
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "invented.html"), []byte(pageOf(t, invented())), 0o644))
	names, err := Charts(dir, all, invented())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, name := range names {
		require.Falsef(t, seen[name], "two charts in %s", name)
		seen[name] = true
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		svg := string(b)
		wellFormed(t, name, svg)
		require.Contains(t, svg, `xmlns="http://www.w3.org/2000/svg"`)
		require.Equal(t, 1, strings.Count(svg, "http"), "nothing from elsewhere in %s", name)
		require.NotContains(t, svg, "NaN", name)
		require.Contains(t, svg, "prefers-color-scheme:dark", name)
		require.Contains(t, strings.Join(strings.Fields(wellFormed(t, name, svg)), " "), "0123456789ab", "where it comes from")
	}
	for _, want := range []string{
		"throughput-get-1kib-unix", "cpu-get-1kib-tcp", "latency-get-1kib-unix", "latency-other-cases-tcp", "bystanders",
		"all-against-poll-cpu-unix", "all-system-calls-tcp", "seeds-system-calls-unix", "ops-late-1pct-unix-64-callers", "dials-late-1pct-unix-64-callers",
		"sizes-throughput-get-size-unix-8-callers", "seeds-against-poll-throughput-unix", "queue-throughput-queue-unix",
	} {
		require.True(t, seen[filepath.Join(dir, want+".svg")], want)
	}
}

// TestOneColourForEachClient in all charts.
func TestOneColourForEachClient(t *testing.T) {
	named := regexp.MustCompile(`<g class="(\w+)">(?:<path[^>]*><title>[^<]*</title></path>)?<text [^>]*class="n"[^>]*>([^<]*)</text>`)
	colour := map[string]string{"p50": "ink", "p99": "ink", "p99.9": "ink", "latest": "ink"}
	for _, s := range Sections(invented().Rows, "") {
		for _, f := range s.Figures {
			found := named.FindAllStringSubmatch(f.SVG, -1)
			require.NotEmpty(t, found, f.Name)
			for _, m := range found {
				if colour[m[2]] == "" {
					colour[m[2]] = m[1]
				}
				require.Equal(t, colour[m[2]], m[1], "%s in %s", m[2], f.Name)
			}
		}
	}
	require.Len(t, colour, 4+len(everyone))
}

// TestManyClients: those that no other chart has are told apart in theirs, and never look like a usual one.
func TestManyClients(t *testing.T) {
	var rows []report.Row
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		rows = append(rows, report.Row{Client: name})
	}
	l := newLooks(rows, "")
	for i := range len(rows) - 2 {
		three := map[string]bool{}
		for _, r := range rows[i : i+3] {
			three[l.colour(r.Client)] = true
		}
		require.Len(t, three, 3, "from %s", rows[i].Client)
	}
	for _, c := range usual {
		for _, r := range rows {
			require.NotEqual(t, l.colour(c.String()), l.colour(r.Client))
		}
	}
}

// TestFamilyWithoutPoll has nothing to be held against, and is drawn as it is.
func TestFamilyWithoutPoll(t *testing.T) {
	rows := slices.DeleteFunc(invented().Rows, func(r report.Row) bool { return r.Group != "seeds" || r.Engine == "poll" })
	sections := Sections(rows, "")
	require.Len(t, sections, 1)
	require.Equal(t, []string{"seeds-cpu-unix", "seeds-system-calls-unix"}, []string{sections[0].Figures[0].Name, sections[0].Figures[1].Name})
	require.Contains(t, sections[0].Figures[0].SVG, "seed-d · unix · 8 callers")
}

func TestChartsOfANoisyRunSaySo(t *testing.T) {
	run := invented()
	require.NotContains(t, source(run), "NOISY")
	run.Rows = run.Rows[:2]
	delete(run.Rows[0].Samples, report.KeyOps)
	run.Rows[0].Samples[report.KeyCPU] = report.Samples{1, 5, 1, 5, 1, 5, 1, 5, 1}
	require.Contains(t, source(run), "TOO NOISY TO JUDGE")
}

func TestSweepNeedsMoreThanOnePoint(t *testing.T) {
	rows := invented().Rows
	for i := range rows {
		if rows[i].Group == "sizes" {
			rows[i].Param = 100
		}
	}
	for _, s := range Sections(rows, "") {
		if s.Title == "Value sizes" {
			require.Equal(t, "sizes-against-poll-throughput-unix", s.Figures[0].Name)
			return
		}
	}
	t.Fatal("the family has no charts at all")
}
