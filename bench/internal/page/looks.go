package page

import (
	"fmt"
	"slices"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

// looks gives each client one colour and one shape in all charts.
type looks struct {
	who  []string
	foot string // of every chart
}

// usual are the clients that have their colours to themselves. The others take turns with the rest, in the
// order of their rows, so that any few that are compared with each other differ.
var usual = []cases.Client{cases.URing, cases.Poll, cases.GoMemcache, cases.Pipelining}

func newLooks(rows []report.Row, foot string) *looks {
	l := &looks{foot: foot}
	for _, c := range usual {
		l.who = append(l.who, c.String())
	}
	for _, r := range rows {
		if !slices.Contains(l.who, r.Who()) {
			l.who = append(l.who, r.Who())
		}
	}
	return l
}

func (l *looks) colour(who string) string {
	i := slices.Index(l.who, who)
	if n := len(usual); i >= n {
		i = n + (i-n)%(chart.Colours-n)
	}
	return chart.Class(i)
}

func (l *looks) shape(who string) chart.Shape { return chart.Shape(slices.Index(l.who, who)) }

// in lists the clients that have rows, in the order of their colours.
func (l *looks) in(rows []report.Row) []string {
	return slices.DeleteFunc(slices.Clone(l.who), func(who string) bool {
		return !slices.ContainsFunc(rows, func(r report.Row) bool { return r.Who() == who })
	})
}

func (l *looks) legend(rows []report.Row) []chart.Key {
	var out []chart.Key
	for _, who := range l.in(rows) {
		out = append(out, chart.Key{Text: who, Colour: l.colour(who), Shape: l.shape(who)})
	}
	return out
}

// column is what charts show of a row.
type column struct {
	key, short, title, sub string
	format                 func(float64) string // on the axis
}

var (
	throughput = column{report.KeyOps, "throughput", "Throughput", "operations per second; more is better", thousands}
	cpu        = column{report.KeyCPU, "cpu", "CPU time", "µs of the client's process per operation; less is better", plain}
	slow       = column{report.KeyP99, "p99", "99th percentile", "of a call's latency; less is better", micros}
)

// quantity writes a column's value with its unit.
func quantity(key string, v float64) string {
	if key == report.KeyOps {
		return thousands(v) + "/s"
	}
	return fmt.Sprintf("%.3g µs", v)
}

func plain(v float64) string { return fmt.Sprintf("%.4g", v) }
func times(v float64) string { return fmt.Sprintf("%.3g×", v) }

func thousands(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// micros writes a time given in microseconds.
func micros(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g s", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g ms", v/1e3)
	}
	return fmt.Sprintf("%.3g µs", v)
}

func size(v float64) string {
	switch {
	case v >= 1<<20:
		return fmt.Sprintf("%.3g MiB", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%.3g KiB", v/(1<<10))
	}
	return fmt.Sprintf("%.3g B", v)
}
