// Package chart draws the report's charts as SVG.
//
// It draws them by itself because no plotting library for Go fits: those that write SVG (gonum/plot) put
// fixed colours and sizes into every element, so that one picture can't suit a light and a dark page; the
// others (go-echarts) need a script from elsewhere. Here elements have classes, a style sheet of a few
// lines gives them the colours of either scheme, and a chart is as narrow as a phone, where it stays
// legible; a wide page puts several side by side.
package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Width of every chart, in its own units: CSS pixels, unless the page scales it.
const Width = 400

// Colours is how many there are.
const Colours = 7

// CSS of the charts. The hues are Okabe and Ito's, which people with any colour vision tell apart, made
// darker on a light ground and lighter on a dark one, so that text in them has enough contrast.
const CSS = `.chart{--bg:#fff;--ink:#1f2328;--soft:#59636e;--grid:#d8dee4;--k0:#0069a6;--k1:#b84a00;--k2:#007a58;--k3:#99407a;--k4:#6b5b00;--k5:#555f6b;--k6:#7a4fc0}
@media(prefers-color-scheme:dark){.chart{--bg:#151b23;--ink:#e6edf3;--soft:#9aa5b1;--grid:#30373f;--k0:#5bb8f5;--k1:#f2a04e;--k2:#41cf9f;--k3:#e592c4;--k4:#e0cf4a;--k5:#aab4bf;--k6:#b99af5}}
.chart text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.chart .t{font-weight:600;font-size:14px}.chart .f{font-size:9px}.chart .f,.chart .s,.chart .a{fill:var(--soft)}.chart .bg{fill:var(--bg)}
.chart .g{stroke:var(--grid)}.chart .x{stroke:var(--soft)}.chart .r{stroke:var(--soft);stroke-dasharray:3 3}
.chart .l{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}.chart .e{fill:none;stroke:var(--c);stroke-width:1.2;opacity:.75}
.chart .m{fill:var(--c);stroke:var(--c);stroke-width:1.5}.chart .o{fill:var(--bg);stroke:var(--c);stroke-width:1.5}.chart .h{paint-order:stroke;stroke:var(--bg);stroke-width:4px}
.chart text.n{fill:var(--c)}
.k0{--c:var(--k0)}.k1{--c:var(--k1)}.k2{--c:var(--k2)}.k3{--c:var(--k3)}.k4{--c:var(--k4)}.k5{--c:var(--k5)}.k6{--c:var(--k6)}.ink{--c:var(--soft)}
`

// Sizes that several charts share.
const (
	titleLine = 18.0
	textLine  = 14.0
	textSize  = 11.0
	titleSize = 14.0
	footSize  = 9.0
	edge      = 8.0 // kept free at the left and the right
)

// Standalone makes a file of a chart: with its style sheet, and a ground of its own, so that it is
// legible wherever it is shown.
func Standalone(svg string) string {
	return strings.Replace(svg, ">", ` xmlns="http://www.w3.org/2000/svg"><style>`+CSS+`</style>`, 1)
}

// canvas collects the elements of one chart.
type canvas struct{ b strings.Builder }

// finish wraps what was drawn, with a line at the foot if there is one. The title is what a screen reader
// says of the picture.
func (c *canvas) finish(title string, height float64, foot string) string {
	for _, l := range wrap(foot, Width-2*edge, footSize) {
		height += textLine
		c.text(edge, height-6, "f", "start", l)
	}
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %d %s" width="%d" height="%s" role="img"><title>%s</title><rect class="bg" width="100%%" height="100%%" rx="6"/>%s</svg>`,
		Width, num(height), Width, num(height), html.EscapeString(title), c.b.String())
}

// head draws the title and what is below it, wrapped, and returns where the rest begins.
func (c *canvas) head(title, sub string) float64 {
	y := 4.0
	for _, l := range wrap(title, Width-2*edge, titleSize) { // bold
		y += titleLine
		c.text(edge, y, "t", "start", l)
	}
	for _, l := range wrap(sub, Width-2*edge, textSize) {
		y += textLine
		c.text(edge, y, "s", "start", l)
	}
	return y + 13
}

func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" class="%s"`, num(x), num(y), class)
	if anchor != "start" {
		fmt.Fprintf(&c.b, ` text-anchor="%s"`, anchor)
	}
	fmt.Fprintf(&c.b, `>%s</text>`, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

func (c *canvas) open(colour string) { fmt.Fprintf(&c.b, `<g class="%s">`, colour) }
func (c *canvas) close()             { c.b.WriteString(`</g>`) }

// Shape of a mark.
type Shape int

// The shapes, in the order in which series get them: whoever can't tell two colours apart has these.
const (
	Circle Shape = iota
	Square
	Triangle
	Diamond
	shapes
)

// mark draws a shape; the tip appears when it is pointed at.
func (c *canvas) mark(x, y, r float64, s Shape, hollow bool, tip string) {
	class := "m"
	if hollow {
		class = "o"
	}
	var d string
	switch s % shapes {
	case Circle:
		d = fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 -%s 0z", num(x-r), num(y), num(r), num(r), num(2*r), num(r), num(r), num(2*r))
	case Square:
		d = fmt.Sprintf("M%s %sh%sv%sh-%sz", num(x-.85*r), num(y-.85*r), num(1.7*r), num(1.7*r), num(1.7*r))
	case Triangle:
		d = fmt.Sprintf("M%s %sl%s %sh-%sz", num(x), num(y-1.1*r), num(1.1*r), num(1.9*r), num(2.2*r))
	case Diamond:
		d = fmt.Sprintf("M%s %sl%s %sl-%s %sl-%s -%sz", num(x), num(y-1.2*r), num(1.2*r), num(1.2*r), num(1.2*r), num(1.2*r), num(1.2*r), num(1.2*r))
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="%s"><title>%s</title></path>`, class, d, html.EscapeString(tip))
}

// num writes a coordinate to a tenth.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// wide estimates the width of a text: a browser's sans-serif font takes no more than this on average.
func wide(s string, size float64) float64 { return 0.6 * size * float64(len([]rune(s))) }

// wrap breaks a text into lines that fit.
func wrap(s string, width, size float64) []string {
	var lines []string
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && wide(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// Class of the i-th colour, which every element in it has.
func Class(i int) string { return "k" + strconv.Itoa(i) }
