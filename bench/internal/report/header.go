package report

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// Run describes a run: enough to do it again.
type Run struct {
	Command    string
	Memcached  string
	Clients    []string
	Gomaxprocs int
	Rounds     int
	Slice      string
	Notes      []string // what was left out, and why
}

// Header prints what was run where.
func Header(w io.Writer, run Run) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s%s\n", pad(name, -12), value)
		}
	}
	line("command", run.Command)
	line("machine", fmt.Sprintf("%s, %d cores, %s/%s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH))
	line("kernel", kernel())
	line("go", strings.TrimPrefix(runtime.Version(), "go"))
	line("memcached", run.Memcached)
	line("clients", strings.Join(run.Clients, ", "))
	line("GOMAXPROCS", fmt.Sprint(run.Gomaxprocs))
	line("rounds", fmt.Sprintf("%d interleaved, slices of %s", run.Rounds, run.Slice))
	for _, n := range run.Notes {
		line("NOTE", n)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
