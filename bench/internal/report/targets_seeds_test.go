package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

// TestTargetsNameCases: a target whose case isn't run would never be missed.
func TestTargetsNameCases(t *testing.T) {
	all := cases.Suite(false)
	for _, target := range allTargets() {
		found := false
		for _, c := range all {
			found = found || c.Name == target.name && c.Network == target.network && c.Callers == target.callers &&
				c.Group == cases.GroupOf(c.Name)
		}
		require.True(t, found, target.name)
	}
}

func TestJudgeSeeds(t *testing.T) {
	rows := []Row{
		made(cases.NameSeedGet512KiB, "unix", 1, cases.URing, 90, 1),
		made(cases.NameSeedGet512KiB, "unix", 1, cases.Poll, 100, 1),
		made(cases.NameSeedGet512KiB, "unix", 1, cases.GoMemcache, 150, 1),
	}
	for i := range rows {
		rows[i].Group = cases.GroupSeeds
	}
	rows[0].Samples["syscalls_per_op"] = Samples{4.1, 4.1, 4.1, 4.1, 4.1, 4.1}
	rows[0].Finish()
	all := Judge(rows)
	require.Equal(t, "4.100", verdict(t, all, cases.NameSeedGet512KiB, "system calls per op ≤ 4.00").Measured, "nothing beside it")
	require.NotContains(t, Families(rows)[0].Table(rows).Heads, "enters/op")
	rows[0].Samples["enters_per_op"] = Samples{3.5, 3.5, 3.5, 3.5, 3.5, 3.5}
	rows[0].Finish()
	all = Judge(rows)
	require.Equal(t, "4.100 (enters 3.500: met)", verdict(t, all, cases.NameSeedGet512KiB, "system calls per op ≤ 4.00").Measured)
	require.Contains(t, Families(rows)[0].Table(rows).Heads, "enters/op")
	require.True(t, verdict(t, all, cases.NameSeedGet512KiB, "system calls per op ≤ 4.00").Missed)
	require.False(t, verdict(t, all, cases.NameSeedGet512KiB, "poll CPU ≤ 0.90×").Missed)
	require.False(t, verdict(t, all, cases.NameSeedGet512KiB, "poll CPU ≤ 0.90×").Unknown)
	require.True(t, verdict(t, all, cases.NameSeedGet512KiB, "gomemcache CPU ≤ 0.50×").Missed)
}
