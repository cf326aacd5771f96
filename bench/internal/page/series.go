package page

import (
	"fmt"

	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

// rate is what a time series shows of each interval.
type rate struct {
	short, title, sub string
	of                func(report.Tick) float64
	axis              chart.Axis
}

var rates = []rate{
	{"ops", "Throughput", "operations per second that succeeded; more is better", func(t report.Tick) float64 { return t.Ops }, chart.Axis{Format: thousands}},
	{"errors", "Errors", "calls per second that failed; less is better", func(t report.Tick) float64 { return t.Errors }, chart.Axis{Format: thousands}},
	{"dials", "New connections", "per second; less is better", func(t report.Tick) float64 { return t.Dials }, chart.Axis{Format: thousands}},
	{"p99", "99th percentile", "of the latency within each interval; less is better", func(t report.Tick) float64 { return t.P99us }, chart.Axis{Log: true, Format: micros}},
}

// series draws what happened over time, for each case that has it.
func (l *looks) series(rows []report.Row) []Figure {
	var out []Figure
	for _, g := range groupBy(rows, func(r *report.Row) string { return r.Title }) {
		for _, rate := range rates {
			c := chart.Lines{
				Title: fmt.Sprintf("%s: %s", rate.title, g.name), Sub: rate.sub, Foot: l.foot,
				X: chart.Axis{Label: "seconds", Tight: true, Format: plain}, Y: rate.axis,
			}
			for _, who := range l.in(g.rows) {
				s := chart.Series{Name: who, Colour: l.colour(who), Shape: l.shape(who)}
				for i := range g.rows {
					if g.rows[i].Who() != who {
						continue
					}
					for _, t := range g.rows[i].Series {
						tip := fmt.Sprintf("%s, %.2f s: %s", who, t.At, rate.axis.Format(rate.of(t)))
						s.Points = append(s.Points, chart.Point{X: t.At, Y: rate.of(t), Tip: tip})
					}
				}
				if len(s.Points) > 0 {
					c.Series = append(c.Series, s)
				}
			}
			if len(c.Series) > 0 {
				out = append(out, Figure{slug(rate.short, g.name), c.SVG()})
			}
		}
	}
	return out
}
