package report

import (
	"fmt"
	"slices"

	"github.com/memring/memring/bench/internal/cases"
)

// judgeSizes holds memring, as it decides by a value's size whether to copy it, against itself always copying:
// at no size may deciding cost. Where it copies as well the two are equal, hence sameWithin.
func judgeSizes(rows []Row) []Verdict {
	var out []Verdict
	for _, c := range cases.OfGroup(cases.Suite(false), cases.GroupSizes) {
		if slices.Contains(c.Clients, cases.URingCopy) {
			out = append(out, judgeSize(rows, c))
		}
	}
	return out
}

func judgeSize(rows []Row, c cases.Case) Verdict {
	v := Verdict{Target: fmt.Sprintf("%s: %s / %s CPU ≤ 1.00× and throughput ≥ 1.00× (noise %.0f%%)", c.ID(), cases.URing, cases.URingCopy, 100*sameWithin)}
	of := Row{Case: c.Name, Network: c.Network, Callers: c.Callers, Group: c.Group, Param: c.Param}
	r, to := Find(rows, &of, cases.URing), Find(rows, &of, cases.URingCopy)
	if r == nil || to == nil {
		v.Unknown = true
		return v
	}
	cpu, thr := Compare(r, to, KeyCPU), Compare(r, to, KeyOps)
	if v.Unknown = !cpu.Known() || !thr.Known(); v.Unknown {
		return v
	}
	v.Measured = fmt.Sprintf("CPU %.3f×, throughput %.3f×", cpu.Mid, thr.Mid)
	cpuMissed, cpuNoisy := cpu.Against(1+sameWithin, true)
	thrMissed, thrNoisy := thr.Against(1-sameWithin, false)
	v.Missed = cpuMissed || thrMissed
	v.Noisy = !v.Missed && (cpuNoisy || thrNoisy)
	return v
}
