package report

import (
	"fmt"

	"github.com/memring/memring/bench/internal/cases"
)

// column is one column of the main table; its cell gets the row and its rivals in the same case.
type column struct {
	head string
	cell func(r, poll, gomemcache *Row) string
}

var columns = []column{
	{"wall µs", func(r, _, _ *Row) string { return Figure(r.WallUS) }},
	{"CPU µs", func(r, _, _ *Row) string { return Figure(r.CPUUS) }},
	{"p50 µs", func(r, _, _ *Row) string { return Figure(r.P50US) }},
	{"p99 µs", func(r, _, _ *Row) string { return Figure(r.P99US) }},
	{"p99.9 µs", func(r, _, _ *Row) string { return Figure(r.P999US) }},
	{"ops/s", func(r, _, _ *Row) string { return fmt.Sprintf("%.0f", r.OpsPerS) }},
	{"sysc/op", func(r, _, _ *Row) string { return syscalls(r) }},
	{"allocs", func(r, _, _ *Row) string { return fmt.Sprintf("%.2f", r.AllocsOp) }},
	{"CPU/poll", func(r, poll, _ *Row) string { return against(r, poll, KeyCPU) }},
	{"thr/poll", func(r, poll, _ *Row) string { return against(r, poll, KeyOps) }},
	{"CPU/gomc", func(r, _, gomc *Row) string { return against(r, gomc, KeyCPU) }},
	{"thr/gomc", func(r, _, gomc *Row) string { return against(r, gomc, KeyOps) }},
	{"spread", func(r, _, _ *Row) string { return spread(r) }},
}

// hungUS is how long a call may take before the report names it: longer than a busy machine explains.
const hungUS = 250e3

// Table is the main table: the rows that belong to no family, those of one case together.
func Table(rows []Row) *Grid {
	g := &Grid{}
	for _, c := range columns {
		g.Heads = append(g.Heads, c.head)
	}
	for i := range rows {
		r := &rows[i]
		if r.Late != nil || r.Group != "" {
			continue // has a table of its own
		}
		poll, gomemcache := Find(rows, r, cases.Poll), Find(rows, r, cases.GoMemcache)
		l := Line{Name: r.Who()}
		for _, c := range columns {
			l.Cells = append(l.Cells, c.cell(r, poll, gomemcache))
		}
		g.Add(r.Title, l)
	}
	g.Notes = notes(rows)
	return g
}

func notes(rows []Row) []string {
	out := []string{
		"wall µs: elapsed time per operation of all callers together (1e6 / ops/s); p50 to p99.9: of a single call, as its caller sees it; with a rate, from when it was due.",
		"Of fewer than 1,000 calls in a slice, p99.9 is the slowest.",
		"CPU µs: user + system of the client's process alone. thr: throughput. poll: memring-poll. gomc: gomemcache. Figures are medians over the rounds.",
		fmt.Sprintf("Ratios are taken round by round, and their median given; ~ marks one whose 95%% interval (of fewer than %d rounds: whose range) spans more than %.0f%%, too noisy to judge.", fewRounds, 100*maxInterval),
		fmt.Sprintf("spread: interquartile range of the rounds against the median, the wider of wall and CPU; above %.0f%% it is marked ~: such figures say little by themselves, their ratios may.", 100*noisySpread),
	}
	kernel, engine := false, false
	for _, r := range rows {
		if r.Late != nil || r.Group != "" {
			continue
		}
		if r.MaxUS > hungUS {
			out = append(out, fmt.Sprintf("HUNG: one call of %s in %s took %.0f ms.", r.Who(), r.Title, r.MaxUS/1e3))
		}
		kernel = kernel || r.SyscallsBy == SourceKernel
		engine = engine || r.SyscallsBy == SourceEngine
	}
	if kernel {
		out = append(out, "sysc/op: every system call of the client's process, by the kernel's counter (raw_syscalls:sys_enter), in slices of their own.")
	}
	if engine {
		out = append(out, "sysc/op with e: the engine's own count of its system calls, as the kernel's counter could not be read; - nobody counts.")
	}
	return out
}

// Bystanders is the table of how late an unrelated goroutine woke.
func Bystanders(rows []Row) *Grid {
	g := &Grid{
		Title:   "Bystanders",
		Caption: "how late a goroutine woke that wants to wake every millisecond, while callers wait on a slow server",
		Heads:   []string{"late p50 µs", "late p99 µs", "late max µs", "wall µs", "CPU µs", "spread"},
	}
	for _, r := range rows {
		if r.Late == nil {
			continue
		}
		l := Line{Name: r.Who()}
		for _, v := range []float64{r.Late.P50US, r.Late.P99US, r.Late.MaxUS, r.WallUS, r.CPUUS} {
			l.Cells = append(l.Cells, Figure(v))
		}
		l.Cells = append(l.Cells, spread(&r))
		g.Add(r.Title, l)
	}
	return g
}

func spread(r *Row) string {
	mark := ""
	if r.Noisy {
		mark = "~"
	}
	return fmt.Sprintf("%s%.0f%%", mark, 100*r.Spread)
}

func syscalls(r *Row) string {
	switch {
	case r.SyscallsOp == nil:
		return "-"
	case r.SyscallsBy == SourceEngine:
		return fmt.Sprintf("%.2fe", *r.SyscallsOp)
	}
	return fmt.Sprintf("%.2f", *r.SyscallsOp)
}

func against(r, to *Row, key string) string {
	if to == nil || r == to {
		return "-"
	}
	ratio := Compare(r, to, key)
	if !ratio.Known() {
		return "-"
	}
	return ratio.String()
}
