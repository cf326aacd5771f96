package idle

import "runtime/metrics"

// meters are what a process has at one time, in bytes unless they count.
type meters struct {
	goroutines, threads, fds int

	objects  float64 // on Go's heap
	stacks   float64 // of goroutines
	resident float64 // VmRSS
	arena    float64 // receive buffers that are resident
	pinned   float64 // VmPin: for the kernel, which is what RLIMIT_MEMLOCK bounds
	sockets  float64 // what the kernel has queued, or set aside, for the sockets
	slab     float64 // the kernel's small objects, of the whole machine
}

// goMemory reads what Go's runtime knows.
func (m *meters) goMemory() {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(s)
	m.objects, m.stacks = float64(s[0].Value.Uint64()), float64(s[1].Value.Uint64())
	m.goroutines = int(s[2].Value.Uint64())
}

// figures are the rows' own, see [report.Row]: totals, and shares of one connection.
func figures(before, after meters, conns int) map[string]float64 {
	each := func(of func(m *meters) float64, unit float64) float64 {
		return (of(&after) - of(&before)) / float64(conns-1) / unit
	}
	const kib, mib = 1 << 10, 1 << 20
	return map[string]float64{
		"heap_B_per_conn":        each(func(m *meters) float64 { return m.objects }, 1),
		"stack_B_per_conn":       each(func(m *meters) float64 { return m.stacks }, 1),
		"goroutines_per_conn":    each(func(m *meters) float64 { return float64(m.goroutines) }, 1),
		"fds_per_conn":           each(func(m *meters) float64 { return float64(m.fds) }, 1),
		"threads":                float64(after.threads),
		"resident_KiB_per_conn":  each(func(m *meters) float64 { return m.resident }, kib),
		"resident_MiB":           after.resident / mib,
		"buffers_KiB_per_conn":   each(func(m *meters) float64 { return m.arena }, kib),
		"pinned_KiB_per_conn":    each(func(m *meters) float64 { return m.pinned }, kib),
		"pinned_MiB":             after.pinned / mib,
		"sock_queue_B_per_conn":  each(func(m *meters) float64 { return m.sockets }, 1),
		"slab_both_KiB_per_conn": each(func(m *meters) float64 { return m.slab }, kib),
	}
}
