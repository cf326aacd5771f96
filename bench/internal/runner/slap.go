package runner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/worker"
)

// memaslapNames are what the load generator of libmemcached is called: since libmemcached's fork, the second.
var memaslapNames = []string{"memaslap", "memcaslap"}

// FindMemaslap returns its path.
func FindMemaslap() (path string, err error) {
	for _, name := range memaslapNames {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// slap runs memaslap, whose documentation asks for a thread a core and for concurrency on top of that. Its
// own values are stored before it measures, so they can't be checked here, and it tells throughput alone.
type slap struct {
	callers, size int
	addr          string
}

// slapKeys is how many values each of its connections works on (its window): 1,000.
const slapKeys = "1k"

func (*slap) said() string { return "" }
func (*slap) stop()        {}

func (s *slap) slice(ctx context.Context, cmd worker.Command) (sample worker.Sample, err error) {
	path, err := FindMemaslap()
	if err != nil {
		return sample, err
	}
	config, err := os.CreateTemp("", "memring-bench-")
	if err != nil {
		return sample, err
	}
	defer os.Remove(config.Name())
	// Keys as long as ours, values of one size, gets (1) and no sets (0).
	keys := len(cases.Key(s.size, 0))
	_, err = fmt.Fprintf(config, "key\n%d %d 1\nvalue\n%d %d 1\ncmd\n0 0\n1 1\n", max(16, keys), max(16, keys), s.size, s.size)
	if closed := config.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return sample, err
	}
	d := wholeSeconds(cmd.Slice)
	limited, cancel := context.WithTimeout(ctx, d+patience)
	defer cancel()
	out, err := exec.CommandContext(limited, path, "-s", s.addr, "-F", config.Name(), "-t", d.String(), "-w", slapKeys,
		"-T", strconv.Itoa(min(s.callers, runtime.NumCPU())), "-c", strconv.Itoa(s.callers)).CombinedOutput()
	if err != nil {
		return sample, fmt.Errorf("%s: %w\n%s", path, err, out)
	}
	return parseSlap(string(out))
}

var (
	slapTotal  = regexp.MustCompile(`(?m)^Run time: ([0-9.]+s) Ops: (\d+) `)
	slapMisses = regexp.MustCompile(`(?m)^get_misses: (\d+)$`)
)

func parseSlap(out string) (s worker.Sample, err error) {
	if m := slapMisses.FindStringSubmatch(out); m == nil || m[1] != "0" {
		return s, fmt.Errorf("memaslap did not find what it had stored:\n%s", tailOf(out))
	}
	m := slapTotal.FindStringSubmatch(out)
	if m == nil {
		return s, fmt.Errorf("memaslap said nothing of its operations:\n%s", tailOf(out))
	}
	if s.Wall, err = time.ParseDuration(m[1]); err != nil {
		return s, err
	}
	s.Ops, err = strconv.ParseUint(m[2], 10, 64)
	return s, err
}

// tailOf keeps the last lines of a long output.
func tailOf(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
