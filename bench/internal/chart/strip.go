package chart

// Strip is a chart of rows along a horizontal axis: each row has a label and a few lines of marks.
type Strip struct {
	Title  string
	Sub    string
	Foot   string // where the figures come from
	X      Axis
	Legend []Key
	Rows   []Row
	// Reference is a value to compare with, drawn all the way down; zero: none.
	Reference float64
	// Within are values that the axis covers even if no mark is there.
	Within []float64
}

// Key explains a mark.
type Key struct {
	Text   string
	Colour string
	Shape  Shape
	Hollow bool
}

// Row is one group of lines.
type Row struct {
	Label string
	Lines []Line
}

// Line is the marks of one series, and a bar from Lo to Hi if Hi is above. The axis covers the marks; a
// bar ends where it does.
type Line struct {
	Label  string // at the left; "": the legend tells
	Colour string
	Lo, Hi float64
	Marks  []Mark
}

// Mark is one value.
type Mark struct {
	X      float64
	Shape  Shape
	Hollow bool
	Tip    string
}

// Measures of the chart.
const (
	labelled   = 14.0 // height of a line that has a label
	unlabelled = 9.0
	tall       = 330.0 // from here on, the axis is written above as well
)

// SVG draws the chart.
func (s *Strip) SVG() string {
	var c canvas
	top := s.legend(&c, c.head(s.Title, s.Sub))
	left, height, pitch := 2*edge, 0.0, unlabelled
	values := append([]float64{}, s.Within...)
	for _, r := range s.Rows {
		for _, l := range r.Lines {
			for _, m := range l.Marks {
				values = append(values, m.X)
			}
			if l.Label != "" {
				left, pitch = max(left, wide(l.Label, textSize)+2*edge), labelled
			}
		}
	}
	for _, r := range s.Rows {
		height += textLine + pitch*float64(len(r.Lines)) + 6
	}
	if s.Reference > 0 {
		values = append(values, s.Reference)
	}
	x := newScale(values, s.X, left, Width-2*edge-6)
	above := height > tall
	if above {
		top += textLine
	}
	bottom := top + height
	for _, v := range x.labelled(s.X) {
		c.line(x.at(v), top, x.at(v), bottom+4, "g")
		c.text(x.at(v), bottom+17, "a", "middle", s.X.Format(v))
		if above {
			c.text(x.at(v), top-4, "a", "middle", s.X.Format(v))
		}
	}
	if s.Reference > 0 {
		c.line(x.at(s.Reference), top, x.at(s.Reference), bottom, "r")
	}
	y := top
	for _, r := range s.Rows {
		y += textLine
		c.text(edge, y-3, "h", "start", r.Label)
		for _, l := range r.Lines {
			l.draw(&c, x, y+pitch/2)
			y += pitch
		}
		y += 6
	}
	c.text((left+Width-edge)/2, bottom+32, "a", "middle", s.X.Label)
	return c.finish(s.Title, bottom+42, s.Foot)
}

// legend draws the keys in as many lines as they need and returns where the rest begins.
func (s *Strip) legend(c *canvas, y float64) float64 {
	if len(s.Legend) == 0 {
		return y
	}
	x := edge
	y += 4
	for _, k := range s.Legend {
		w := wide(k.Text, textSize) + 26
		if x > edge && x+w > Width {
			x, y = edge, y+textLine+2
		}
		c.open(k.Colour)
		c.mark(x+5, y, 3.6, k.Shape, k.Hollow, k.Text)
		c.text(x+14, y+4, "n", "start", k.Text)
		c.close()
		x += w
	}
	return y + textLine
}

func (l *Line) draw(c *canvas, x scale, y float64) {
	c.open(l.Colour)
	defer c.close()
	if l.Label != "" {
		c.text(edge, y+4, "n", "start", l.Label)
	}
	if l.Hi > l.Lo && x.has(l.Lo) && x.has(l.Hi) {
		c.line(x.at(l.Lo), y, x.at(l.Hi), y, "e")
	}
	for _, m := range l.Marks {
		if x.has(m.X) {
			c.mark(x.at(m.X), y, 3.4, m.Shape, m.Hollow, m.Tip)
		}
	}
}
