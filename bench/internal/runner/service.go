package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/memring/memring/bench/internal/worker"
)

// Wrk is the program that drives services.
const Wrk = "wrk"

// service is a worker that serves HTTP, driven by wrk. The CPU time is the worker's alone.
type service struct {
	*child
	callers int // connections of wrk
}

func (s *service) slice(ctx context.Context, cmd worker.Command) (worker.Sample, error) {
	if _, err := s.ask(ctx, cmd, patience); err != nil { // the meters' beginning
		return worker.Sample{}, err
	}
	d := wholeSeconds(cmd.Slice)
	limited, cancel := context.WithTimeout(ctx, d+patience)
	defer cancel()
	out, err := exec.CommandContext(limited, Wrk, "-t1", "-c", strconv.Itoa(s.callers), "-d", d.String(), "--latency", "http://"+s.addr+"/").CombinedOutput()
	if err != nil {
		return worker.Sample{}, fmt.Errorf("%s: %w\n%s", Wrk, err, out)
	}
	r, err := s.ask(ctx, cmd, patience)
	if err != nil {
		return worker.Sample{}, err
	}
	sample := r.Sample
	drove, err := parseWrk(string(out))
	sample.Ops, sample.Wall, sample.P50, sample.P99 = drove.Ops, drove.Wall, drove.P50, drove.P99
	return sample, err
}

var (
	wrkTotal   = regexp.MustCompile(`(?m)^\s*(\d+) requests in ([0-9.]+[a-z]+),`)
	wrkPercent = regexp.MustCompile(`(?m)^\s*(50|99)%\s+([0-9.]+[a-z]+)$`)
	wrkTrouble = regexp.MustCompile(`(?m)^\s*((?:Non-2xx|Socket errors).*)$`)
)

// parseWrk reads what wrk prints with --latency.
func parseWrk(out string) (s worker.Sample, err error) {
	if m := wrkTrouble.FindStringSubmatch(out); m != nil {
		return s, fmt.Errorf("the service failed: wrk says %q", m[1])
	}
	m := wrkTotal.FindStringSubmatch(out)
	if m == nil {
		return s, fmt.Errorf("wrk said nothing of its requests:\n%s", out)
	}
	if s.Ops, err = strconv.ParseUint(m[1], 10, 64); err != nil {
		return s, err
	}
	s.Wall, err = time.ParseDuration(m[2])
	for _, p := range wrkPercent.FindAllStringSubmatch(out, -1) {
		took, bad := time.ParseDuration(p[2])
		err = errors.Join(err, bad)
		if p[1] == "50" {
			s.P50 = took
		} else {
			s.P99 = took
		}
	}
	if err == nil && (s.Ops == 0 || s.Wall <= 0 || s.P99 <= 0) {
		err = fmt.Errorf("wrk measured nothing:\n%s", out)
	}
	return s, err
}
