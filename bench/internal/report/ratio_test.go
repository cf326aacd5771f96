package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

func TestIntervalOf(t *testing.T) {
	nine := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}
	require.Equal(t, Interval{5, 2, 8}, IntervalOf(nine), "the second and the eighth of nine hold the median in 96%")
	require.Equal(t, 9.0, nine[0], "the caller's values keep their order")
	require.Equal(t, Interval{2, 1, 3}, IntervalOf([]float64{3, 1, 2}), "of few values: all of them")
	require.True(t, IntervalOf([]float64{5}).Wide(), "one value alone says nothing about noise")
	require.False(t, IntervalOf(nil).Known())
	six := IntervalOf([]float64{1, 2, 3, 4, 5, 6})
	require.Equal(t, Interval{3.5, 1, 6}, six, "six are just enough")
}

func TestIntervalAgainstALimit(t *testing.T) {
	for _, c := range []struct {
		i             Interval
		most          bool
		missed, noisy bool
	}{
		{Interval{0.9, 0.85, 0.95}, true, false, false},
		{Interval{1.1, 1.05, 1.2}, true, true, false},
		{Interval{1.1, 1.05, 1.2}, false, false, false},
		{Interval{1.01, 0.96, 1.06}, true, true, false}, // near the limit, but known well
		{Interval{1.01, 0.9, 1.2}, true, false, true},
		{Interval{3, 1.5, 6}, true, true, false}, // known badly, but well beyond
		{Interval{0, 0, 0}, true, false, false},
	} {
		missed, noisy := c.i.Against(1, c.most)
		require.Equal(t, c.missed, missed, "%+v", c)
		require.Equal(t, c.noisy, noisy, "%+v", c)
	}
}

// TestDriftCancelsOut: rounds that are twice as slow for everybody make rows noisy, but not their ratio.
func TestDriftCancelsOut(t *testing.T) {
	r, to := made("c", "unix", 1, cases.URing, 1, 1), made("c", "unix", 1, cases.Poll, 1, 1)
	r.Samples["cpu_us"], to.Samples["cpu_us"] = Samples{1, 2, 4, 8, 1, 2, 4}, Samples{2, 4, 8, 16, 2, 4, 8}
	r.Finish()
	require.True(t, r.Noisy)
	require.Equal(t, "0.50×", Compare(&r, &to, "cpu_us").String())
	to.Samples["cpu_us"][0], to.Samples["cpu_us"][1] = 1, 2
	require.Equal(t, "~0.50×", Compare(&r, &to, "cpu_us").String())
}

func TestNoiseOfARun(t *testing.T) {
	rows := []Row{
		made("a", "unix", 1, cases.URing, 1, 1), made("a", "unix", 1, cases.Poll, 1, 1), made("a", "unix", 1, cases.GoMemcache, 1, 1),
	}
	n := NoiseOf(rows)
	require.Equal(t, Noise{Compared: 8, Rounds: 2}, n, "two to each of two rivals, but none to itself")
	require.Contains(t, n.String(), "all 8 ratios can be judged")
	require.Contains(t, n.String(), "fewer than 6 rounds")

	rows[2].Samples["cpu_us"] = Samples{1, 3}
	n = NoiseOf(rows)
	require.Equal(t, 3, n.Wide, "the one's ratio to poll, and both others' to it")
	require.Contains(t, n.String(), "3 of 8 ratios are too noisy")
	require.False(t, n.TooNoisy())
	rows[1].Samples["ops_per_s"] = Samples{1, 3}
	n = NoiseOf(rows)
	require.Equal(t, 6, n.Wide)
	require.Contains(t, n.String(), "THIS RUN IS TOO NOISY TO JUDGE")
	require.Equal(t, "nothing to compare", NoiseOf(rows[:1]).String())
}
