package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

// Figure is one chart, and the name of its file.
type Figure struct {
	Name string
	SVG  string
}

// Section is charts that belong together.
type Section struct {
	Title   string
	Caption string
	Figures []Figure
}

// Sections draws every chart that the rows have figures for, with a line at the foot of each.
func Sections(rows []report.Row, foot string) []Section {
	l := newLooks(rows, foot)
	var plain, late []report.Row
	for _, r := range rows {
		switch {
		case r.Late != nil:
			late = append(late, r)
		case r.Group == "":
			plain = append(plain, r)
		}
	}
	all := []Section{
		{Title: "Against callers", Caption: "Bars show the quartiles of the rounds.", Figures: l.byCallers(plain)},
		{Title: "Latency", Caption: "Of a single call, as its caller sees it, on a logarithmic axis.", Figures: l.latencies(plain)},
		{Title: "Every case, against memring on poll", Caption: "Ratios are taken round by round; bars are their 95% intervals, cut at the edge, and hollow marks are too noisy to judge.", Figures: l.againstPoll("all", "", plain)},
		{Title: "System calls", Caption: "Of the client's process for each operation, Go's own included, where the kernel's counter can be read.", Figures: l.dots(systemCalls, "all", "", plain)},
		{Title: "Bystanders", Caption: "How late a goroutine wakes that has nothing to do with the client.", Figures: l.bystanders(late)},
	}
	for _, f := range report.Families(rows) {
		own := slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return r.Group != f.Group })
		figures := l.series(own)
		if len(figures) == 0 {
			figures = l.sweep(f, own)
		}
		if len(figures) == 0 {
			if figures = l.againstPoll(f.Group, f.Title+": ", own); len(figures) == 0 { // poll doesn't take part
				figures = l.dots(cpuTime, f.Group, f.Title+": ", own)
			}
			figures = append(figures, l.dots(systemCalls, f.Group, f.Title+": ", own)...)
		}
		all = append(all, Section{Title: f.Title, Caption: f.Caption, Figures: figures})
	}
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Figures) == 0 })
}

// lines makes a chart of one column, over the callers or whatever varies within a family.
func (l *looks) lines(rows []report.Row, key string, x func(*report.Row) float64) []chart.Series {
	var out []chart.Series
	for _, who := range l.in(rows) {
		s := chart.Series{Name: who, Colour: l.colour(who), Shape: l.shape(who)}
		for i := range rows {
			r := &rows[i]
			if r.Who() != who || len(r.Samples[key]) == 0 {
				continue
			}
			lo, hi := report.Quartiles(r.Samples[key])
			mid := report.Median(r.Samples[key])
			s.Points = append(s.Points, chart.Point{
				X: x(r), Y: mid, Lo: lo, Hi: hi,
				Tip: fmt.Sprintf("%s, %s: %s (%s to %s)", who, r.Title, quantity(key, mid), quantity(key, lo), quantity(key, hi)),
			})
		}
		slices.SortStableFunc(s.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		if len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// sweepsFrom is with how many numbers of callers a case is drawn as a line.
const sweepsFrom = 3

func callers(r *report.Row) float64 { return float64(r.Callers) }

// byCallers draws throughput and CPU of the cases that ran with several numbers of callers.
func (l *looks) byCallers(rows []report.Row) []Figure {
	var out []Figure
	for _, g := range groupBy(rows, func(r *report.Row) string { return r.Case + " · " + r.Network }) {
		x := chart.Axis{Label: "callers, logarithmic", Log: true, Ticks: distinct(g.rows, callers), Format: plain}
		if len(x.Ticks) < sweepsFrom {
			continue
		}
		for _, c := range []column{throughput, cpu} {
			out = append(out, Figure{slug(c.short, g.name), (&chart.Lines{
				Title: c.title + ": " + g.name, Sub: c.sub, Foot: l.foot, X: x, Y: chart.Axis{Format: c.format},
				Series: l.lines(g.rows, c.key, callers),
			}).SVG()})
		}
	}
	return out
}

// sizeOf is the part of a case's name that says which point of a sweep it is.
var sizeOf = regexp.MustCompile(`-?\d+(\.\d+)?([kKM]i?)?B?$`)

// sweep draws a family over what varies within it, if anything does.
func (l *looks) sweep(f report.Family, rows []report.Row) []Figure {
	param := func(r *report.Row) float64 { return r.Param }
	var out []Figure
	for _, g := range groupBy(rows, func(r *report.Row) string {
		name := sizeOf.ReplaceAllString(r.Case, "")
		if r.Network != "none" {
			name += " · " + r.Network
		}
		if r.Callers > 0 && float64(r.Callers) != r.Param {
			name += " · " + callersOf(r.Callers)
		}
		return name
	}) {
		unit := g.rows[0].Unit
		x := chart.Axis{Label: cmp.Or(unit, "of") + ", logarithmic", Log: true, Ticks: distinct(g.rows, param), Format: plain}
		y := chart.Axis{}
		if unit == "bytes" {
			x.Label, x.Format, y.Log = "size of a value, logarithmic", size, true
		}
		if len(x.Ticks) < 2 {
			continue
		}
		for _, c := range []column{throughput, cpu, slow} {
			series := l.lines(g.rows, c.key, param)
			if len(series) == 0 {
				continue
			}
			y.Format = c.format
			sub := c.sub
			if y.Log {
				sub += "; both axes logarithmic"
			}
			out = append(out, Figure{slug(f.Group, c.short, g.name), (&chart.Lines{
				Title: c.title + ": " + g.name, Sub: sub, Foot: l.foot, X: x, Y: y, Series: series,
			}).SVG()})
		}
	}
	return out
}

// group is the rows of one chart.
type group struct {
	name string
	rows []report.Row
}

// groupBy keeps the order in which names first appear.
func groupBy(rows []report.Row, name func(*report.Row) string) []group {
	var out []group
	for i := range rows {
		n := name(&rows[i])
		at := slices.IndexFunc(out, func(g group) bool { return g.name == n })
		if at < 0 {
			at = len(out)
			out = append(out, group{name: n})
		}
		out[at].rows = append(out[at].rows, rows[i])
	}
	return out
}

// distinct values of the rows, in order.
func distinct(rows []report.Row, of func(*report.Row) float64) []float64 {
	var out []float64
	for i := range rows {
		out = append(out, of(&rows[i]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func callersOf(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}

// slug makes a file's name.
func slug(parts ...string) string {
	words := regexp.MustCompile(`[^A-Za-z0-9.]+`).Split(strings.Join(parts, " "), -1)
	return strings.ToLower(strings.Trim(strings.Join(words, "-"), "-"))
}
