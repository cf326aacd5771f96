package report

import "github.com/memring/memring/bench/internal/cases"

// seedTargets are what the project began with: how many system calls each of nine operations may take,
// Go's own included, and how much CPU time against the poll engine and, where values are large, against
// gomemcache. The last is how far it may be from what the kernel allows.
var seedTargets = func() []target {
	var out []target
	for _, s := range []struct {
		name  string
		calls float64
		large bool // values of 64 KiB or more
	}{
		{cases.NameSeedGet, 1.1, false},
		{cases.NameSeed40x100B, 1.2, false},
		{cases.NameSeed400x100B, 1.5, false},
		{cases.NameSeed40x1KiB, 1.3, false},
		{cases.NameSeed40x4KiB, 3.5, false},
		{cases.NameSeed40x12KiB, 9, false},
		{cases.NameSeed20x64KiB, 23, true},
		{cases.NameSeedGet512KiB, 4, true},
		{cases.NameSeedGet2048KiB, 9, true},
	} {
		out = append(out,
			target{s.name, "unix", 1, qCalls, cases.URing, cases.Client{}, s.calls},
			target{s.name, "unix", 1, qCPU, cases.URing, cases.Poll, 0.9})
		if s.large {
			out = append(out, target{s.name, "unix", 1, qCPU, cases.URing, cases.GoMemcache, 0.5})
		}
	}
	return append(out, target{cases.NameLimit, "unix", 1, qCPU, cases.URing, cases.BareRing, 1.25})
}()
