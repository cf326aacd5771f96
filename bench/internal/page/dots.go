package page

import (
	"fmt"
	"math"

	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

// dot is a figure by itself, on an axis that all cases share.
type dot struct {
	short, title, sub string
	of                func(*report.Row) (v, lo, hi float64) // NaN: there is none
	hollow            func(*report.Row) bool
	reference         float64
}

var systemCalls = dot{
	"system calls", "System calls per operation", "less is better; hollow: as the engine counts its own",
	func(r *report.Row) (v, lo, hi float64) {
		if r.SyscallsOp == nil {
			return math.NaN(), 0, 0
		}
		return *r.SyscallsOp, 0, 0
	},
	func(r *report.Row) bool { return r.SyscallsBy == report.SourceEngine }, 1,
}

var cpuTime = dot{
	"cpu", "CPU time per operation", "µs of the client's process; less is better; bars: quartiles of the rounds",
	func(r *report.Row) (v, lo, hi float64) {
		lo, hi = report.Quartiles(r.Samples[report.KeyCPU])
		return report.Median(r.Samples[report.KeyCPU]), lo, hi
	},
	func(*report.Row) bool { return false }, 0,
}

// dots draws a chart for each network.
func (l *looks) dots(d dot, name, title string, rows []report.Row) []Figure {
	var out []Figure
	for _, network := range groupBy(rows, func(r *report.Row) string { return r.Network }) {
		s := chart.Strip{
			Title: title + d.title + ", " + network.name, Sub: d.sub, Foot: l.foot,
			X: chart.Axis{Label: "logarithmic", Log: true, Format: plain}, Reference: d.reference,
		}
		var shown []report.Row
		for _, g := range groupBy(network.rows, func(r *report.Row) string { return r.Title }) {
			row := chart.Row{Label: g.name}
			for i := range g.rows {
				r := &g.rows[i]
				v, lo, hi := d.of(r)
				if math.IsNaN(v) {
					continue
				}
				who := r.Who()
				row.Lines = append(row.Lines, chart.Line{Colour: l.colour(who), Lo: lo, Hi: hi, Marks: []chart.Mark{
					{X: v, Shape: l.shape(who), Hollow: d.hollow(r), Tip: fmt.Sprintf("%s, %s: %s %.3g", who, r.Title, d.short, v)},
				}})
				shown = append(shown, *r)
			}
			if len(row.Lines) > 0 {
				s.Rows = append(s.Rows, row)
			}
		}
		if len(s.Rows) > 0 {
			s.Legend = l.legend(shown)
			out = append(out, Figure{slug(name, d.short, network.name), s.SVG()})
		}
	}
	return out
}
