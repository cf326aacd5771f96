package report

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// maxInterval is how much of itself a figure's interval may span before the figure is too noisy to judge.
const maxInterval = 0.15

// confidence of the intervals.
const confidence = 0.95

// fewRounds is with how many values a median has no interval of that confidence: half of all values lie
// on either side of it, so that all six of them lie on one side in 2 of 64 runs, and all five in 2 of 32.
const fewRounds = 6

// Interval is a median and where it lies with a confidence of 95%, whatever the distribution. With
// fewer than six values it is the range of them all, which claims less.
type Interval struct{ Mid, Lo, Hi float64 }

// IntervalOf the values' median. One value alone could lie anywhere.
func IntervalOf(values []float64) Interval {
	switch {
	case len(values) < 2:
		return Interval{Median(values), 0, math.Inf(1)}
	case len(values) < fewRounds:
		return Interval{Median(values), slices.Min(values), slices.Max(values)}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	return Interval{s.Center, s.Lo, s.Hi}
}

// Compare is the interval of one row's figure against another's. The two were measured next to each other
// in every round, so the ratio is taken round by round: what slowed a whole round down cancels out.
func Compare(r, to *Row, key string) Interval {
	a, b := r.Samples[key], to.Samples[key]
	if len(a) == 0 || len(a) != len(b) {
		return Interval{Median(a) / Median(b), 0, math.Inf(1)}
	}
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return IntervalOf(ratios)
}

// Known tells whether there is a figure at all.
func (i Interval) Known() bool { return !math.IsNaN(i.Mid) && !math.IsInf(i.Mid, 0) }

// Wide tells whether the interval says too little.
func (i Interval) Wide() bool { return !(i.Hi <= i.Lo*(1+maxInterval)) }

// Against holds the figure against a limit: a maximum if most. It is missed or met as the median is, unless
// the limit lies within an interval that is too wide: then nobody can tell.
func (i Interval) Against(limit float64, most bool) (missed, noisy bool) {
	if i.Lo <= limit && limit <= i.Hi && i.Wide() {
		return false, true
	}
	if most {
		return !(i.Mid <= limit), false
	}
	return !(i.Mid >= limit), false
}

// String of a ratio; ~ marks one that is too noisy to judge.
func (i Interval) String() string {
	mark := ""
	if i.Wide() {
		mark = "~"
	}
	return fmt.Sprintf("%s%.2f×", mark, i.Mid)
}
