package page

import (
	"fmt"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

// percentile is one mark of a latency chart.
type percentile struct {
	name   string
	shape  chart.Shape
	hollow bool
	of     func(*report.Row) float64
}

var calls = []percentile{
	{"p50", chart.Circle, false, func(r *report.Row) float64 { return r.P50US }},
	{"p99", chart.Diamond, false, func(r *report.Row) float64 { return r.P99US }},
	{"p99.9", chart.Circle, true, func(r *report.Row) float64 { return r.P999US }},
}

var wakes = []percentile{
	{"p50", chart.Circle, false, func(r *report.Row) float64 { return r.Late.P50US }},
	{"p99", chart.Diamond, false, func(r *report.Row) float64 { return r.Late.P99US }},
	{"latest", chart.Circle, true, func(r *report.Row) float64 { return r.Late.MaxUS }},
}

// latencies draws a chart of each case that ran with several numbers of callers, and one of all others.
func (l *looks) latencies(rows []report.Row) []Figure {
	var out []Figure
	draw := func(name string, rows []report.Row, label func(*report.Row) string) {
		s := chart.Strip{Title: "Latency: " + name, Sub: "of a call; less is better"}
		out = append(out, Figure{slug("latency", name), l.percentiles(s, rows, calls, label)})
	}
	for _, network := range groupBy(rows, func(r *report.Row) string { return r.Network }) {
		var others []report.Row
		for _, g := range groupBy(network.rows, func(r *report.Row) string { return r.Case + " · " + r.Network }) {
			if len(distinct(g.rows, callers)) < sweepsFrom {
				others = append(others, g.rows...)
				continue
			}
			draw(g.name, g.rows, func(r *report.Row) string { return callersOf(r.Callers) })
		}
		if len(others) > 0 {
			draw("other cases · "+network.name, others, func(r *report.Row) string { return r.Case + " · " + callersOf(r.Callers) })
		}
	}
	return out
}

func (l *looks) bystanders(rows []report.Row) []Figure {
	if len(rows) == 0 {
		return nil
	}
	s := chart.Strip{Title: "Bystanders: how late they wake", Sub: "a goroutine that wants to run every millisecond; less is better"}
	return []Figure{{"bystanders", l.percentiles(s, rows, wakes, func(r *report.Row) string { return r.Title })}}
}

// percentiles draws a line for each client from its least mark to its greatest.
func (l *looks) percentiles(s chart.Strip, rows []report.Row, marks []percentile, label func(*report.Row) string) string {
	s.X, s.Foot = chart.Axis{Label: "logarithmic", Log: true, Format: micros}, l.foot
	for _, p := range marks {
		s.Legend = append(s.Legend, chart.Key{Text: p.name, Colour: "ink", Shape: p.shape, Hollow: p.hollow})
	}
	for _, g := range groupBy(rows, label) {
		row := chart.Row{Label: g.name}
		for _, who := range l.in(g.rows) {
			for i := range g.rows {
				r := &g.rows[i]
				if r.Who() != who {
					continue
				}
				line := chart.Line{Label: who, Colour: l.colour(who), Lo: marks[0].of(r), Hi: marks[len(marks)-1].of(r)}
				for _, p := range marks {
					tip := fmt.Sprintf("%s, %s: %s %s", who, r.Title, p.name, micros(p.of(r)))
					line.Marks = append(line.Marks, chart.Mark{X: p.of(r), Shape: p.shape, Hollow: p.hollow, Tip: tip})
				}
				row.Lines = append(row.Lines, line)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s.SVG()
}

// againstPoll draws the ratios of throughput and CPU to memring on poll, which every case has.
func (l *looks) againstPoll(name, title string, rows []report.Row) []Figure {
	var out []Figure
	for _, network := range groupBy(rows, func(r *report.Row) string { return r.Network }) {
		for _, c := range []column{throughput, cpu} {
			s := chart.Strip{
				Title: fmt.Sprintf("%s%s against memring-poll, %s", title, c.title, network.name), Sub: "times poll's; " + better(c), Foot: l.foot,
				X: chart.Axis{Label: "logarithmic", Log: true, Format: times}, Reference: 1, Within: []float64{0.5, 2},
			}
			var shown []report.Row
			for _, g := range groupBy(network.rows, func(r *report.Row) string { return r.Title }) {
				row := l.ratios(g, c)
				if len(row.Lines) > 0 {
					s.Rows = append(s.Rows, row)
					shown = append(shown, g.rows...)
				}
			}
			if len(s.Rows) == 0 {
				continue
			}
			for _, k := range l.legend(shown) {
				if k.Text != cases.Poll.String() {
					s.Legend = append(s.Legend, k)
				}
			}
			out = append(out, Figure{slug(name, "against poll", c.short, network.name), s.SVG()})
		}
	}
	return out
}

func better(c column) string {
	if c.key == report.KeyOps {
		return "more is better"
	}
	return "less is better"
}

// ratios of one case.
func (l *looks) ratios(g group, c column) chart.Row {
	row := chart.Row{Label: g.name}
	for i := range g.rows {
		r := &g.rows[i]
		poll := report.Find(g.rows, r, cases.Poll)
		if poll == nil || r == poll || r.Who() == cases.Poll.String() {
			continue
		}
		ratio := report.Compare(r, poll, c.key)
		if !ratio.Known() {
			continue
		}
		who := r.Who()
		row.Lines = append(row.Lines, chart.Line{
			Colour: l.colour(who), Lo: ratio.Lo, Hi: ratio.Hi,
			Marks: []chart.Mark{{
				X: ratio.Mid, Shape: l.shape(who), Hollow: ratio.Wide(),
				Tip: fmt.Sprintf("%s, %s: %.2f× poll's %s (%.2f to %.2f)", who, r.Title, ratio.Mid, c.short, ratio.Lo, ratio.Hi),
			}},
		})
	}
	return row
}
