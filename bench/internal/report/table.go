package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/memring/memring/bench/internal/cases"
)

// column is one column of the table; its cell gets the row and its rivals in the same case.
type column struct {
	head  string
	width int
	cell  func(r, poll, gomemcache *Row) string
}

var columns = []column{
	{"wall µs", 9, func(r, _, _ *Row) string { return figure(r.WallUS) }},
	{"CPU µs", 8, func(r, _, _ *Row) string { return figure(r.CPUUS) }},
	{"p50 µs", 8, func(r, _, _ *Row) string { return figure(r.P50US) }},
	{"p99 µs", 8, func(r, _, _ *Row) string { return figure(r.P99US) }},
	{"p99.9 µs", 9, func(r, _, _ *Row) string { return figure(r.P999US) }},
	{"ops/s", 9, func(r, _, _ *Row) string { return fmt.Sprintf("%.0f", r.OpsPerS) }},
	{"sysc/op", 8, func(r, _, _ *Row) string { return syscalls(r) }},
	{"allocs", 7, func(r, _, _ *Row) string { return fmt.Sprintf("%.2f", r.AllocsOp) }},
	{"CPU/poll", 9, func(r, poll, _ *Row) string { return against(r, poll, cpuRatio) }},
	{"thr/poll", 9, func(r, poll, _ *Row) string { return against(r, poll, throughputRatio) }},
	{"CPU/gomc", 9, func(r, _, gomc *Row) string { return against(r, gomc, cpuRatio) }},
	{"thr/gomc", 9, func(r, _, gomc *Row) string { return against(r, gomc, throughputRatio) }},
	{"spread", 8, func(r, _, _ *Row) string { return spread(r) }},
}

const nameWidth = 16

// hungUS is how long a call may take before the report names it: longer than a busy machine explains.
const hungUS = 250e3

// Table prints the rows, those of one case together.
func Table(w io.Writer, rows []Row) error {
	var b strings.Builder
	b.WriteString(pad("", -nameWidth))
	for _, c := range columns {
		b.WriteString(pad(c.head, c.width))
	}
	b.WriteString("\n")
	for i := range rows {
		r := &rows[i]
		if r.Late != nil {
			continue // has a table of its own
		}
		if i == 0 || rows[i-1].Title != r.Title {
			fmt.Fprintf(&b, "%s\n", r.Title)
		}
		poll := find(rows, r.Case, r.Network, r.Callers, cases.Poll)
		gomemcache := find(rows, r.Case, r.Network, r.Callers, cases.GoMemcache)
		b.WriteString(pad("  "+r.Who(), -nameWidth))
		for _, c := range columns {
			b.WriteString(pad(c.cell(r, poll, gomemcache), c.width))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s", notes(rows))
	_, err := io.WriteString(w, b.String())
	return err
}

func notes(rows []Row) string {
	var b strings.Builder
	b.WriteString("wall µs: elapsed time per operation of all callers together (1e6 / ops/s); p50 to p99.9: of a single call, as its caller sees it.\n")
	b.WriteString("Of fewer than 1,000 calls in a slice, p99.9 is the slowest.\n")
	b.WriteString("CPU µs: user + system of the client's process alone. thr: throughput. poll: memring-poll. gomc: gomemcache. Figures are medians over the rounds.\n")
	fmt.Fprintf(&b, "spread: interquartile range of the rounds against the median, the wider of wall and CPU; ~ marks a row above %.0f%%, too noisy to judge.\n", 100*noisySpread)
	for _, r := range rows {
		if r.MaxUS > hungUS && r.Late == nil {
			fmt.Fprintf(&b, "HUNG: one call of %s in %s took %.0f ms.\n", r.Who(), r.Title, r.MaxUS/1e3)
		}
	}
	kernel, engine := false, false
	for _, r := range rows {
		if r.Late != nil {
			continue
		}
		kernel = kernel || r.SyscallsBy == SourceKernel
		engine = engine || r.SyscallsBy == SourceEngine
	}
	if kernel {
		b.WriteString("sysc/op: every system call of the client's process, by the kernel's counter (raw_syscalls:sys_enter), in slices of their own.\n")
	}
	if engine {
		b.WriteString("sysc/op with e: the engine's own count of its system calls, as the kernel's counter could not be read; - nobody counts.\n")
	}
	return b.String()
}

// Bystanders prints how late an unrelated goroutine woke.
func Bystanders(w io.Writer, rows []Row) error {
	var b strings.Builder
	for i, r := range rows {
		if r.Late == nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nbystander: a goroutine that wants to wake every millisecond while callers wait on a slow server; how late it woke\n")
			b.WriteString(pad("", -nameWidth))
			for _, head := range []string{"late p50", "late p99", "late max", "wall µs", "CPU µs"} {
				b.WriteString(pad(head, 10))
			}
			b.WriteString("  spread\n")
		}
		if i == 0 || rows[i-1].Title != r.Title {
			fmt.Fprintf(&b, "%s\n", r.Title)
		}
		b.WriteString(pad("  "+r.Who(), -nameWidth))
		for _, v := range []float64{r.Late.P50US, r.Late.P99US, r.Late.MaxUS, r.WallUS, r.CPUUS} {
			b.WriteString(pad(figure(v), 10))
		}
		b.WriteString(pad(spread(&r), 8) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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

func cpuRatio(r, to *Row) float64        { return r.CPUUS / to.CPUUS }
func throughputRatio(r, to *Row) float64 { return r.OpsPerS / to.OpsPerS }

func against(r, to *Row, ratio func(r, to *Row) float64) string {
	if to == nil || r == to {
		return "-"
	}
	return fmt.Sprintf("%.2f×", ratio(r, to))
}

// figure prints three digits that mean something.
func figure(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// pad fills up to a width in characters: to the right, or to the left if negative.
func pad(s string, width int) string {
	fill := strings.Repeat(" ", max(0, max(width, -width)-utf8.RuneCountInString(s)))
	if width < 0 {
		return s + fill
	}
	return fill + s
}
