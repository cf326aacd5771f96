package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

func TestJudgeSizes(t *testing.T) {
	sized := func(size float64, c cases.Client, cpu, ops float64) Row {
		r := made(cases.NameSizeSet, "unix", 1, c, cpu, ops)
		r.Group, r.Param = cases.GroupSizes, size
		return r
	}
	rows := []Row{
		sized(512, cases.URing, 10.4, 97), sized(512, cases.URingCopy, 10, 100),
		sized(4<<10, cases.URing, 10, 90), sized(4<<10, cases.URingCopy, 10, 100),
		sized(16<<10, cases.URing, 11, 120), sized(16<<10, cases.URingCopy, 10, 100),
		sized(64<<10, cases.URing, 5, 200), sized(64<<10, cases.URingCopy, 10, 100),
		sized(1<<20, cases.URing, 10, 100),
	}
	rows[6].Samples[KeyCPU] = Samples{9, 13}
	all := Judge(rows)
	same := verdict(t, all, "sizes-set-512B/unix/1:")
	require.Equal(t, "met", same.Word(), "equal rows may differ by so much")
	require.Equal(t, "CPU 1.040×, throughput 0.970×", same.Measured)
	require.Equal(t, "MISSED", verdict(t, all, "sizes-set-4KiB/unix/1:").Word(), "by throughput")
	require.Equal(t, "MISSED", verdict(t, all, "sizes-set-16KiB/unix/1:").Word(), "by CPU")
	require.Equal(t, "noisy", verdict(t, all, "sizes-set-64KiB/unix/1:").Word())
	require.Equal(t, "not measured", verdict(t, all, "sizes-set-1MiB/unix/1:").Word(), "without anything to compare")
	require.True(t, verdict(t, all, "sizes-get-8MiB/unix/1:").Unknown)
}
