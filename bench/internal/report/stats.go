package report

import (
	"math"
	"slices"
)

// Median of the values; NaN if there are none.
func Median(values []float64) float64 { return quantile(values, 0.5) }

// Spread is the interquartile range against the median: half of all rounds lie within it.
func Spread(values []float64) float64 {
	m := Median(values)
	if len(values) < 2 || m == 0 {
		return 0
	}
	lo, hi := Quartiles(values)
	return (hi - lo) / m
}

// Quartiles are what half of all values lie between; NaN if there are none.
func Quartiles(values []float64) (lo, hi float64) {
	return quantile(values, 0.25), quantile(values, 0.75)
}

// quantile interpolates between the two nearest values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below == len(sorted)-1 {
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
