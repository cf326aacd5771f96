package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memring/memring/bench/internal/cases"
)

// Family is rows that are printed and drawn together, beside the main table.
type Family struct {
	Group   string
	Title   string
	Caption string
}

// families in the order of the report. A row of another group still gets a table, under its group's name.
var families = []Family{
	{"late", "Late replies", "a server that is late now and then, by far more than a call's deadline"},
	{"seeds", "Seeds' cases", "what the project began with: one caller, from one small value to one of 2 MiB, and how many system calls each takes"},
	{"sizes", "Value sizes", "what a value's size does"},
	{"leases", "Leases", "a large value in fresh memory, in a slice that is used again, lent and given back"},
	{"typed", "Typed cache", "what it costs to have values of a Go type and not bytes"},
	{"queue", "Queue", "how callers hand requests over and are woken, without any I/O"},
	{"service", "Service", "an HTTP service that gets one value for each request"},
	{"limit", "Limit", "how far memring is from what the kernel allows a lone caller"},
	{"recovery", "Recovery", "what it costs to be able to keep a connection after a timeout, and to prove each reply: the same client without"},
	{"foreign", "Other programs", "load generators in other languages, which tell their throughput alone"},
	{"idle", "Idle connections", "what a connection costs that nobody uses"},
}

// Families of these rows.
func Families(rows []Row) []Family {
	out := slices.DeleteFunc(slices.Clone(families), func(f Family) bool {
		return !slices.ContainsFunc(rows, func(r Row) bool { return r.Group == f.Group })
	})
	for _, r := range rows {
		if r.Group != "" && !slices.ContainsFunc(out, func(f Family) bool { return f.Group == r.Group }) {
			out = append(out, Family{Group: r.Group, Title: r.Group})
		}
	}
	return out
}

// Table of the family: those of the usual columns, and of its own, in which it has figures.
func (f Family) Table(rows []Row) *Grid {
	var own []Row
	var extra []string
	for _, r := range rows {
		if r.Group == f.Group {
			own = append(own, r)
			extra = append(extra, slices.Collect(maps.Keys(r.Extra))...)
		}
	}
	slices.Sort(extra)
	all := []struct {
		head string
		cell func(r *Row) string // "" where it has none
	}{
		{unitOf(own), func(r *Row) string { return param(r) }},
		{"ops/s", func(r *Row) string { return positive(r.OpsPerS, "%.0f") }},
		{"CPU µs", func(r *Row) string { return some(r.CPUUS) }},
		{"p50 µs", func(r *Row) string { return some(r.P50US) }},
		{"p99 µs", func(r *Row) string { return some(r.P99US) }},
		{"p99.9 µs", func(r *Row) string { return some(r.P999US) }},
		{"sysc/op", func(r *Row) string { return strings.TrimPrefix(syscalls(r), "-") }},
		{"enters/op", func(r *Row) string {
			if r.EntersOp == nil || r.SyscallsBy == SourceEngine {
				return "" // it is what sysc/op shows
			}
			return fmt.Sprintf("%.2f", *r.EntersOp)
		}},
		{"allocs", func(r *Row) string { return measured(r, KeyAllocs, "%.2f", r.AllocsOp) }},
	}
	for _, key := range slices.Compact(extra) {
		all = append(all, struct {
			head string
			cell func(r *Row) string
		}{Words(key), func(r *Row) string {
			if v, ok := r.Extra[key]; ok {
				return Figure(v)
			}
			return ""
		}})
	}
	all = append(all, struct {
		head string
		cell func(r *Row) string
	}{"spread", func(r *Row) string { return measured(r, KeyWall, "%s", spread(r)) }})

	g := &Grid{Title: f.Title, Caption: f.Caption}
	lines := make([]Line, len(own))
	for i := range own {
		lines[i].Name = own[i].Who()
	}
	for _, c := range all {
		cells, any := make([]string, len(own)), false
		for i := range own {
			cells[i] = c.cell(&own[i])
			any = any || cells[i] != ""
		}
		if !any {
			continue
		}
		g.Heads = append(g.Heads, c.head)
		for i, cell := range cells {
			if cell == "" {
				cell = "-"
			}
			lines[i].Cells = append(lines[i].Cells, cell)
		}
	}
	for i := range own {
		g.Add(own[i].Title, lines[i])
	}
	return g
}

func unitOf(rows []Row) string {
	for _, r := range rows {
		if r.Unit != "" {
			return r.Unit
		}
	}
	return "of"
}

func param(r *Row) string {
	return positive(r.Param, "%.0f")
}

func positive(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

func some(v float64) string {
	if v == 0 {
		return ""
	}
	return Figure(v)
}

// measured tells a figure that is zero from one that isn't there.
func measured(r *Row, key, format string, v any) string {
	if len(r.Samples[key]) == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// Words makes a heading of a key: opens_per_s becomes opens/s, and stall_us stall µs.
func Words(key string) string {
	key = strings.ReplaceAll(key, "_per_", "/")
	if stem, ok := strings.CutSuffix(key, "_us"); ok {
		key = stem + " µs"
	}
	return strings.ReplaceAll(key, "_", " ")
}

// rival tells whether the clients do the same work in this row. In the other families a figure can be
// better because less was done, or means something else.
func rival(r *Row) bool { return r.Group == "" || r.Group == "sizes" || r.Group == "seeds" }

// Find returns the row of a client in the case of r, or nil.
func Find(rows []Row, r *Row, c cases.Client) *Row {
	for i := range rows {
		o := &rows[i]
		if o.Case == r.Case && o.Network == r.Network && o.Callers == r.Callers && o.Group == r.Group && o.Param == r.Param &&
			o.Client == c.Name && o.Engine == c.Engine {
			return o
		}
	}
	return nil
}
