package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Grid is a table, printed as text here and as HTML on the page.
type Grid struct {
	Title    string
	Caption  string
	Heads    []string // of the cells; the names have none
	Sections []Section
	Notes    []string
}

// Section is the lines of one case.
type Section struct {
	Title string
	Lines []Line
}

// Line is one client's figures.
type Line struct {
	Name  string
	Cells []string
}

// Add appends a line, in a section of its own if the title is new.
func (g *Grid) Add(title string, l Line) {
	if n := len(g.Sections); n == 0 || g.Sections[n-1].Title != title {
		g.Sections = append(g.Sections, Section{Title: title})
	}
	s := &g.Sections[len(g.Sections)-1]
	s.Lines = append(s.Lines, l)
}

// gap is what separates columns at least.
const gap = 2

// WriteText prints the table with columns as wide as they must be; one without lines prints nothing.
func (g *Grid) WriteText(w io.Writer) error {
	if len(g.Sections) == 0 {
		return nil
	}
	name, widths := 0, make([]int, len(g.Heads))
	for i, h := range g.Heads {
		widths[i] = utf8.RuneCountInString(h) + gap
	}
	for _, s := range g.Sections {
		for _, l := range s.Lines {
			name = max(name, utf8.RuneCountInString(l.Name)+gap)
			for i, c := range l.Cells {
				widths[i] = max(widths[i], utf8.RuneCountInString(c)+gap)
			}
		}
	}
	var b strings.Builder
	if g.Title != "" {
		b.WriteString("\n" + g.Title)
		if g.Caption != "" {
			b.WriteString(": " + g.Caption)
		}
		b.WriteString("\n")
	}
	line := func(label string, cells []string) {
		b.WriteString(pad(label, -name))
		for i, c := range cells {
			b.WriteString(pad(c, widths[i]))
		}
		b.WriteString("\n")
	}
	line("", g.Heads)
	for _, s := range g.Sections {
		fmt.Fprintln(&b, s.Title)
		for _, l := range s.Lines {
			line("  "+l.Name, l.Cells)
		}
	}
	if len(g.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range g.Notes {
		fmt.Fprintln(&b, n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Figure prints three digits that mean something.
func Figure(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// pad fills up to a width in characters: to the right, or to the left if negative.
func pad(s string, width int) string {
	fill := strings.Repeat(" ", max(0, max(width, -width)-utf8.RuneCountInString(s)))
	if width < 0 {
		return s + fill
	}
	return fill + s
}
