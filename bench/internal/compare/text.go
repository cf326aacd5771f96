package compare

import (
	"fmt"
	"io"
	"math"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/memring/memring/bench/internal/report"
)

// Write prints what differs between two runs.
func Write(w io.Writer, before, after *report.Saved) error {
	var b strings.Builder
	for _, r := range []struct {
		name string
		run  report.Run
	}{{"old", before.Header}, {"new", after.Header}} {
		fmt.Fprintf(&b, "%s: %s  %s  %s\n", r.name, r.run.Date, orUnknown(r.run.Commit), r.run.Command)
	}
	if notes := unlike(before.Header, after.Header); len(notes) > 0 {
		b.WriteString("THE RUNS WERE NOT MADE ALIKE, so a difference may be due to that:\n")
		for _, n := range notes {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	for _, r := range []struct {
		name string
		rows []report.Row
	}{{"old", before.Rows}, {"new", after.Rows}} {
		if n := report.NoiseOf(r.rows); n.TooNoisy() {
			fmt.Fprintf(&b, "%s: %s\n", r.name, n)
		}
	}
	pairs, onlyOld, onlyNew := match(before.Rows, after.Rows)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	b.Reset()
	found, all := 0, 0
	for _, u := range units {
		c := u.in(pairs, before.Rows, after.Rows)
		if err := c.grid().WriteText(w); err != nil {
			return err
		}
		for _, d := range c.diffs {
			all++
			if d.sign() != 0 {
				found++
			}
		}
	}
	for _, only := range []struct {
		name string
		rows []string
	}{{"old", onlyOld}, {"new", onlyNew}} {
		if len(only.rows) > 0 {
			fmt.Fprintf(&b, "\nonly in %s: %s\n", only.name, strings.Join(only.rows, "; "))
		}
	}
	fmt.Fprintf(&b, "\n%d of %d figures differ; of so many, about %.0f would by chance alone (p < %.2f).\n",
		found, all, float64(all)*benchmath.DefaultThresholds.CompareAlpha, benchmath.DefaultThresholds.CompareAlpha)
	b.WriteString("±: the median's 95% interval. ~: no difference that the noise allows to tell (Mann-Whitney U).\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func orUnknown(commit string) string {
	if commit == "" {
		return "unknown commit"
	}
	return commit
}

// grid is the table of one unit.
func (c compared) grid() *report.Grid {
	better := "less is better"
	if c.unit.more {
		better = "more is better"
	}
	g := &report.Grid{Title: c.unit.title, Caption: better, Heads: []string{"old", "±", "new", "±", "change", "", "p, n"}, Notes: c.notes}
	figure := c.unit.figure
	for _, d := range c.diffs {
		g.Add(d.row.Title, report.Line{Name: d.row.Who(), Cells: []string{
			figure(d.old.Center), d.old.PctRangeString(), figure(d.new.Center), d.new.PctRangeString(),
			d.test.FormatDelta(d.old.Center, d.new.Center), c.word(d), d.test.String(),
		}})
	}
	if before, after := c.geomean(); !math.IsNaN(before) && len(c.diffs) > 1 {
		g.Add("all", report.Line{Name: "geomean", Cells: []string{
			figure(before), "", figure(after), "", fmt.Sprintf("%+.2f%%", 100*(after/before-1)), "", "",
		}})
	}
	return g
}

// word for a difference.
func (c compared) word(d diff) string {
	switch sign := d.sign(); {
	case sign == 0:
		return ""
	case (sign > 0) == c.unit.more:
		return "better"
	}
	return "worse"
}
