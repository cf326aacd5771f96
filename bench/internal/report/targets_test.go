package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

// verdict finds the one whose text begins with the first part and has all others.
func verdict(t *testing.T, all []Verdict, parts ...string) Verdict {
	t.Helper()
	var found []Verdict
	for _, v := range all {
		ok := strings.HasPrefix(v.Target, parts[0])
		for _, p := range parts {
			ok = ok && strings.Contains(v.Target, p)
		}
		if ok {
			found = append(found, v)
		}
	}
	require.Lenf(t, found, 1, "targets with %q", parts)
	return found[0]
}

func TestJudge(t *testing.T) {
	rows := []Row{
		made(cases.NameGet, "unix", 8, cases.URing, 7, 130000),
		made(cases.NameGet, "unix", 8, cases.Poll, 10, 100000),
		made(cases.NameGet, "unix", 8, cases.GoMemcache, 20, 60000),
	}
	all := Judge(rows)
	cpu := verdict(t, all, "get-1KiB unix 8:", "poll CPU ≤ 0.70×")
	require.Equal(t, Verdict{Target: cpu.Target, Measured: "0.700×"}, cpu, "at the limit is within it")
	require.Equal(t, "met", cpu.Word())
	require.False(t, verdict(t, all, "get-1KiB unix 8:", "poll throughput ≥ 1.20×").Missed)
	peer := verdict(t, all, "get-1KiB unix 8:", "gomemcache throughput ≥ 2.20×")
	require.True(t, peer.Missed)
	require.Equal(t, "2.167×", peer.Measured)
	require.True(t, verdict(t, all, "get-1KiB unix 1:", "system calls").Unknown)
	require.True(t, verdict(t, all, "get-1KiB tcp 512:").Unknown)
	require.False(t, verdict(t, all, "no row").Missed)

	var b bytes.Buffer
	require.NoError(t, Targets(&b, all))
	require.Contains(t, b.String(), "MISSED")
	require.Contains(t, b.String(), "were not measured")
}

func TestJudgeSystemCallsAndAllocations(t *testing.T) {
	r := made(cases.NameGet, "unix", 1, cases.URing, 1, 1)
	v := verdict(t, Judge([]Row{r}), "get-1KiB unix 1:", "system calls")
	require.True(t, v.Unknown, "nobody counted")
	r.Samples["enters_per_op"] = Samples{1.2, 1.2}
	r.Finish()
	all := Judge([]Row{r})
	require.True(t, verdict(t, all, "get-1KiB unix 1:", "system calls").Missed)
	require.False(t, verdict(t, all, "get-1KiB unix 1:", "allocations").Missed)
}

func TestJudgeNoise(t *testing.T) {
	uring, poll := made(cases.NameGet, "unix", 64, cases.URing, 9, 1e5), made(cases.NameGet, "unix", 64, cases.Poll, 10, 1e5)
	judged := func() Verdict { return verdict(t, Judge([]Row{uring, poll}), "get-1KiB unix 64:", "poll CPU ≤ 0.85") }
	poll.Samples["cpu_us"] = Samples{10, 12}
	require.Equal(t, "noisy", judged().Word(), "0.75 to 0.90: it may be either")
	uring.Samples["cpu_us"] = Samples{7, 9}
	require.Equal(t, "met", judged().Word(), "0.70 and 0.75: noise of both that cancels out")
	uring.Samples["cpu_us"] = Samples{20, 30}
	require.Equal(t, "MISSED", judged().Word(), "2.0 to 2.5 is wide, but far from the limit")
	poll.Samples["cpu_us"] = Samples{10, 12, 11}
	require.Equal(t, "noisy", judged().Word(), "not of the same rounds")
}

func TestJudgeNoWorseNamesTheWorst(t *testing.T) {
	rows := []Row{
		made("a", "unix", 1, cases.URing, 11, 100), made("a", "unix", 1, cases.Poll, 10, 100),
		made("b", "tcp", 2, cases.URing, 10, 50), made("b", "tcp", 2, cases.Poll, 10, 100),
	}
	v := verdict(t, Judge(rows), "no row")
	require.True(t, v.Missed)
	require.Equal(t, "2 rows, the worst 2.000× wall in b/tcp/2", v.Measured)

	rows[0].Group, rows[1].Group = "queue", "queue"
	require.Contains(t, verdict(t, Judge(rows), "no row").Measured, "1 rows", "no competition in the same work")
	rows = rows[2:]
	rows[0].Samples["wall_us"] = Samples{1e4, 5e4}
	v = verdict(t, Judge(rows), "no row")
	require.Equal(t, "noisy", v.Word())
	require.Equal(t, "1 rows too noisy", v.Measured)
}

func TestJudgeBystanders(t *testing.T) {
	late := func(callers int, c cases.Client, p99 float64) Row {
		r := made(cases.NameBystander, "unix", callers, c, 1, 1)
		r.Samples["late_p50_us"], r.Samples["late_p99_us"], r.Samples["late_max_us"] = Samples{1, 1}, Samples{p99, p99}, Samples{p99, p99}
		r.Finish()
		return r
	}
	near := []Row{late(1, cases.URing, 190), late(1, cases.Poll, 100)}
	require.False(t, verdict(t, Judge(near), "bystander").Missed, "within 100 µs")
	far := append(near, late(8, cases.URing, 5000), late(8, cases.Poll, 4000))
	v := verdict(t, Judge(far), "bystander")
	require.True(t, v.Missed)
	require.Equal(t, "1.25× round by round (medians 5000 and 4000 µs) in bystander/unix/8", v.Measured)
	far[0].Samples["late_p99_us"] = Samples{50, 380} // within 100 µs by its median
	far[2].Samples["late_p99_us"] = Samples{4000, 6000}
	v = verdict(t, Judge(far), "bystander")
	require.Equal(t, "noisy", v.Word())
	require.Equal(t, "2.15× round by round (medians 190 and 100 µs) in bystander/unix/1; 1 rows too noisy", v.Measured)
}
