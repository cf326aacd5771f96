package chart

import (
	"math"
	"slices"
)

// Axis says how to draw one direction. Values are not negative; a logarithmic axis has no zero.
type Axis struct {
	Label  string
	Log    bool
	Tight  bool      // end at the greatest value, not at the next round one
	Ticks  []float64 // where to write numbers; nil: at round ones
	Format func(float64) string
}

// scale maps values to coordinates.
type scale struct {
	lo, hi   float64 // of the values
	from, to float64 // of the coordinates
	log      bool
}

// leastSpan is how many times its beginning a logarithmic axis reaches at least: less of it would show
// differences that are none.
const leastSpan = 4

// newScale covers the values: from zero, or on a logarithmic axis from the least above zero.
func newScale(values []float64, a Axis, from, to float64) scale {
	s := scale{from: from, to: to, log: a.Log}
	if a.Log {
		values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !usable(v) || v == 0 })
		if len(values) == 0 {
			values = []float64{1}
		}
		s.lo, s.hi = slices.Min(values), slices.Max(values)
		if s.hi < leastSpan*s.lo {
			more := math.Sqrt(leastSpan / (s.hi / s.lo))
			s.lo, s.hi = s.lo/more, s.hi*more
		}
		return s
	}
	for _, v := range values {
		if usable(v) {
			s.hi = max(s.hi, v)
		}
	}
	if s.hi == 0 {
		s.hi = 1
	}
	if !a.Tight {
		s.hi = step(s.hi) * math.Ceil(s.hi/step(s.hi)-1e-9)
	}
	return s
}

func usable(v float64) bool { return v >= 0 && !math.IsInf(v, 0) } // and no NaN

// has tells whether the scale has a place for a value.
func (s scale) has(v float64) bool { return usable(v) && (!s.log || v > 0) }

// at is the coordinate of a value; one beyond the ends is drawn at the end.
func (s scale) at(v float64) float64 {
	v = min(max(v, s.lo), s.hi)
	share := (v - s.lo) / (s.hi - s.lo)
	if s.log {
		share = math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	return s.from + share*(s.to-s.from)
}

// step is a round distance of which about four reach up to hi.
func step(hi float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(hi/4)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if hi/(m*unit) <= 5 {
			return m * unit
		}
	}
	return 10 * unit
}

// ticks are round values on the scale.
func (s scale) ticks() []float64 {
	var out []float64
	if !s.log {
		d := step(s.hi)
		for i := 0.0; i*d <= s.hi*(1+1e-9); i++ {
			out = append(out, i*d)
		}
		return out
	}
	multiples := []float64{1, 2, 5}
	if s.hi/s.lo >= 500 {
		multiples = multiples[:1]
	}
	for unit := math.Pow(10, math.Floor(math.Log10(s.lo))); unit <= s.hi; unit *= 10 {
		for _, m := range multiples {
			if v := m * unit; v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// labelled are the ticks whose numbers fit next to each other along a horizontal axis.
func (s scale) labelled(a Axis) []float64 {
	ticks := a.Ticks
	if ticks == nil {
		ticks = s.ticks()
	}
	var out []float64
	free := math.Inf(-1)
	for _, v := range ticks {
		half := wide(a.Format(v), textSize)/2 + 3
		if !s.has(v) || s.at(v)-half < free {
			continue
		}
		out = append(out, v)
		free = s.at(v) + half
	}
	return out
}
