package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func format(v float64) string { return fmt.Sprintf("%g", v) }

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		require.NotContains(t, svg, bad)
	}
}

func TestLinearScale(t *testing.T) {
	s := newScale([]float64{3, 430}, Axis{}, 100, 0)
	require.Equal(t, []float64{0, 100, 200, 300, 400, 500}, s.ticks())
	require.InDelta(t, 100, s.at(0), 1e-9, "from zero")
	require.InDelta(t, 50, s.at(250), 1e-9)
	require.InDelta(t, 0, s.at(999), 1e-9, "no further than the end")
	require.Equal(t, []float64{0, 0.5, 1, 1.5, 2}, newScale([]float64{2}, Axis{Tight: true}, 0, 1).ticks())
	require.InDelta(t, 1.9, newScale([]float64{1.9}, Axis{Tight: true}, 0, 1).hi, 0)
}

func TestScalesWithoutASpan(t *testing.T) {
	for name, values := range map[string][]float64{"none": nil, "zeros": {0, 0}, "not numbers": {math.NaN(), math.Inf(1)}, "one": {7}} {
		for _, log := range []bool{false, true} {
			s := newScale(values, Axis{Log: log}, 0, 100)
			require.Less(t, s.lo, s.hi, name)
			require.NotEmpty(t, s.ticks(), name)
			for _, v := range append(s.ticks(), s.lo, s.hi) {
				require.GreaterOrEqual(t, s.at(v), 0.0, name)
				require.LessOrEqual(t, s.at(v), 100.0, name)
			}
		}
	}
	require.InDelta(t, 50, newScale([]float64{7}, Axis{Log: true}, 0, 100).at(7), 1e-9, "a single value stands in the middle")
}

func TestLogarithmicScale(t *testing.T) {
	s := newScale([]float64{1, 8, 64, 512, 0}, Axis{Log: true}, 0, 90)
	require.InDelta(t, 0, s.at(1), 1e-9)
	require.InDelta(t, 30, s.at(8), 1e-9, "equal factors are equal distances")
	require.InDelta(t, 60, s.at(64), 1e-9)
	require.False(t, s.has(0), "zero has no place on it")
	require.Equal(t, []float64{1, 10, 100}, s.ticks())
	require.Equal(t, []float64{1, 2, 5, 10}, newScale([]float64{1, 16}, Axis{Log: true}, 0, 1).ticks())
	near := newScale([]float64{1, 1.1}, Axis{Log: true}, 0, 1)
	require.InDelta(t, leastSpan, near.hi/near.lo, 1e-9, "a small difference stays small")
}

func TestNumbersThatDoNotFitAreLeftOut(t *testing.T) {
	s := newScale([]float64{1, 1000}, Axis{Log: true}, 0, 100)
	a := Axis{Format: format, Ticks: []float64{0, 1, 2, 1000}}
	require.Equal(t, []float64{1, 1000}, s.labelled(a))
}

func TestSpreadKeepsOrderAndDistance(t *testing.T) {
	at := []float64{10, 11, 12, 95, 99}
	spread(at, 0, 100, 10)
	require.Equal(t, []float64{10, 20, 30, 90, 100}, at)
	spread(nil, 0, 100, 10)
}

func TestWrap(t *testing.T) {
	require.Equal(t, []string{"one two", "three"}, wrap("one two three", wide("one two", 10), 10))
	require.Empty(t, wrap("", 100, 10))
}

func TestLines(t *testing.T) {
	axis := Axis{Label: "callers", Log: true, Format: format, Ticks: []float64{1, 8}}
	l := Lines{
		Title: "a < b", Sub: "more & better", X: axis, Y: Axis{Format: format},
		Series: []Series{
			{Name: "one", Colour: Class(0), Points: []Point{{X: 1, Y: 10, Lo: 5, Hi: 20, Tip: "ten"}, {X: 8, Y: 40}}},
			{Name: "two", Colour: Class(1), Shape: Square, Points: []Point{{X: 1, Y: 0}}},
			{Name: "none", Colour: Class(2)},
		},
	}
	svg := l.SVG()
	wellFormed(t, svg)
	require.Contains(t, svg, "<title>a &lt; b</title>")
	require.Contains(t, svg, "<title>ten</title>")
	require.Contains(t, svg, ">two</text>")
	require.NotContains(t, svg, ">none</text>", "a series without a point has no end to be named at")
	require.Equal(t, 3, strings.Count(svg, `class="e"`), "one bar and its ends")
	wellFormed(t, (&Lines{X: axis, Y: axis}).SVG())

	l.Y.Log = true // where zero has no place
	svg = l.SVG()
	wellFormed(t, svg)
	require.NotContains(t, svg, ">two</text>")
}

// TestGapInALine: what isn't there must not look as if it were.
func TestGapInALine(t *testing.T) {
	l := Lines{X: Axis{Format: format, Tight: true}, Y: Axis{Log: true, Format: format}, Series: []Series{
		{Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 1}, {X: 3, Y: 0}, {X: 4, Y: 1}, {X: 5, Y: 1}}},
	}}
	_, after, _ := strings.Cut(l.SVG(), `<path class="l" d="`)
	path, _, _ := strings.Cut(after, `"`)
	require.Equal(t, 2, strings.Count(path, "M"), path)
	require.Equal(t, 2, strings.Count(path, "L"), path)
}

func TestStrip(t *testing.T) {
	s := Strip{
		Title: "t", X: Axis{Log: true, Format: format}, Reference: 1, Within: []float64{0.5, 2},
		Legend: []Key{{Text: "a client with a long name", Shape: Diamond}, {Text: "another one with a name as long"}, {Text: "third", Hollow: true}},
		Rows: []Row{
			{Label: "a <case>", Lines: []Line{{Lo: 0.8, Hi: 1.2, Marks: []Mark{{X: 1, Tip: "one"}}}, {Marks: []Mark{{X: 0}}}}},
			{Label: "unknown noise", Lines: []Line{{Lo: 0, Hi: math.Inf(1), Marks: []Mark{{X: 1.5, Shape: Triangle}}}}},
		},
	}
	svg := s.SVG()
	wellFormed(t, svg)
	require.Contains(t, svg, "a &lt;case&gt;")
	require.Equal(t, 1, strings.Count(svg, `class="e"`), "no bar without an end")
	require.Equal(t, 1, strings.Count(svg, `class="r"`))
	wellFormed(t, (&Strip{X: Axis{Format: format}}).SVG())
	for range 30 {
		s.Rows = append(s.Rows, s.Rows[0])
	}
	wellFormed(t, s.SVG())
}

func TestStandaloneHasItsOwnStyle(t *testing.T) {
	svg := Standalone((&Lines{Title: "t", X: Axis{Format: format}, Y: Axis{Format: format}}).SVG())
	wellFormed(t, svg)
	require.Contains(t, svg, "prefers-color-scheme")
	require.Contains(t, svg, `xmlns="http://www.w3.org/2000/svg"`)
}
