package chart

import (
	"math"
	"slices"
)

// Lines is a chart of series over a common axis.
type Lines struct {
	Title  string
	Sub    string
	Foot   string // where the figures come from
	X, Y   Axis
	Series []Series
}

// Series is one line, named at its right end.
type Series struct {
	Name   string
	Colour string // a class
	Shape  Shape
	Points []Point // by X
}

// Point is a value, and between what it varied; Lo and Hi are zero if that isn't known.
type Point struct {
	X, Y   float64
	Lo, Hi float64
	Tip    string
}

// Measures of the chart.
const (
	plotHeight = 190.0
	leftRoom   = 46.0
	manyPoints = 12 // from here on, marks are small
)

// SVG draws the chart.
func (l *Lines) SVG() string {
	var c canvas
	top := c.head(l.Title, l.Sub)
	bottom := top + plotHeight
	right := edge
	for _, s := range l.Series {
		right = max(right, wide(s.Name, textSize)+2*edge)
	}
	var xs, ys []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y, p.Hi)
		}
	}
	x := newScale(xs, l.X, leftRoom+8, Width-right-4)
	y := newScale(ys, l.Y, bottom, top)
	if l.X.Tight {
		x.from = leftRoom
	}
	l.axes(&c, x, y, Width-right)
	type end struct {
		s *Series
		y float64
	}
	var ends []end
	for i := range l.Series {
		s := &l.Series[i]
		if last := s.draw(&c, x, y); !math.IsNaN(last) {
			ends = append(ends, end{s, last})
		}
	}
	at := make([]float64, len(ends))
	slices.SortStableFunc(ends, func(a, b end) int { return int(math.Copysign(1, a.y-b.y)) })
	for i, e := range ends {
		at[i] = e.y
	}
	spread(at, top+4, bottom, textLine-1)
	for i, e := range ends {
		c.open(e.s.Colour)
		c.text(Width-right+edge, at[i]+4, "n", "start", e.s.Name)
		c.close()
	}
	c.text((leftRoom+Width-right)/2, bottom+32, "a", "middle", l.X.Label)
	return c.finish(l.Title, bottom+42, l.Foot)
}

// axes draws the grid and its numbers.
func (l *Lines) axes(c *canvas, x, y scale, right float64) {
	for _, v := range y.ticks() {
		at := y.at(v)
		c.line(leftRoom, at, right, at, "g")
		c.text(leftRoom-5, at+4, "a", "end", l.Y.Format(v))
	}
	for _, v := range x.labelled(l.X) {
		at := x.at(v)
		c.line(at, y.from, at, y.from+4, "x")
		c.text(at, y.from+17, "a", "middle", l.X.Format(v))
	}
	c.line(leftRoom, y.from, right, y.from, "x")
}

// draw returns the height of the last point, NaN if there is none.
func (s *Series) draw(c *canvas, x, y scale) float64 {
	last, path, to := math.NaN(), "", "M"
	c.open(s.Colour)
	defer c.close()
	for _, p := range s.Points {
		if !x.has(p.X) || !y.has(p.Y) {
			to = "M" // a gap, not a line across it
			continue
		}
		last = y.at(p.Y)
		path += to + num(x.at(p.X)) + " " + num(last)
		to = "L"
		if p.Hi > p.Lo && y.has(p.Lo) && y.has(p.Hi) {
			c.line(x.at(p.X), y.at(p.Lo), x.at(p.X), y.at(p.Hi), "e")
			c.line(x.at(p.X)-3, y.at(p.Lo), x.at(p.X)+3, y.at(p.Lo), "e")
			c.line(x.at(p.X)-3, y.at(p.Hi), x.at(p.X)+3, y.at(p.Hi), "e")
		}
	}
	if path != "" {
		c.b.WriteString(`<path class="l" d="` + path + `"/>`)
	}
	r := 3.4
	if len(s.Points) >= manyPoints {
		r = 1.6
	}
	for _, p := range s.Points {
		if x.has(p.X) && y.has(p.Y) {
			c.mark(x.at(p.X), y.at(p.Y), r, s.Shape, false, p.Tip)
		}
	}
	return last
}

// spread moves sorted places apart so that each is at least gap below the one before, all of them from
// lo to hi if there is room.
func spread(at []float64, lo, hi, gap float64) {
	for i := range at {
		at[i] = max(at[i], lo)
		if i > 0 {
			at[i] = max(at[i], at[i-1]+gap)
		}
	}
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = min(at[i], hi-gap*float64(len(at)-1-i))
	}
}
