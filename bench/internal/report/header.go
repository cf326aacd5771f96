package report

import (
	"fmt"
	"io"
	"strings"
)

// Fact is a line of the header.
type Fact struct{ Name, Value string }

// Facts are what the header says, without the notes.
func (r *Run) Facts() []Fact {
	var settings []string
	for _, s := range r.Settings {
		settings = append(settings, s.Name+"="+s.Value)
	}
	var out []Fact
	for _, f := range []Fact{
		{"command", r.Command},
		{"date", r.Date},
		{"commit", r.Commit},
		{"machine", r.Machine},
		{"kernel", r.Kernel},
		{"go", r.Go},
		{"memcached", r.Memcached},
		{"clients", strings.Join(r.Clients, ", ")},
		{"settings", strings.Join(settings, " ")},
	} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// Header prints what was run where.
func Header(w io.Writer, run Run) error {
	var b strings.Builder
	for _, f := range run.Facts() {
		fmt.Fprintf(&b, "%s%s\n", pad(f.Name, -12), f.Value)
	}
	for _, n := range run.Notes {
		fmt.Fprintf(&b, "%s%s\n", pad("NOTE", -12), n)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
