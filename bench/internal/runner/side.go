package runner

import (
	"context"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/worker"
)

// side is one client in one case, started and ready for its turns.
type side interface {
	// slice takes one turn.
	slice(ctx context.Context, cmd worker.Command) (worker.Sample, error)
	// said is what the client tells of itself, or "".
	said() string
	stop()
}

// begin starts a side and has it connect.
func begin(ctx context.Context, c cases.Case, client cases.Client, addr string, o Options) (side, error) {
	if client == cases.Memaslap {
		return &slap{callers: c.Callers, size: c.Size, addr: addr}, nil
	}
	w, err := start(ctx, c, client, addr, o)
	if err == nil && c.Op == cases.Serve {
		return &service{child: w, callers: c.Callers}, nil
	}
	return w, err
}

// warmOf is how long a side runs before it is measured.
func warmOf(c cases.Case, client cases.Client, o Options) time.Duration {
	switch {
	case c.Op == cases.Idle:
		return 0 // there is nothing to warm
	case client == cases.Memaslap:
		return 0 // each of its turns is a new process, which warms up by itself
	case c.Op == cases.Serve:
		return wholeSeconds(o.Warm)
	}
	return o.Warm
}

// countsOf is how many turns a side gets in which its system calls are counted.
func countsOf(c cases.Case, client cases.Client, o Options) int {
	if o.Tracepoint == 0 || c.Bystander || c.Tick > 0 || c.Op == cases.Serve || c.Op == cases.HandOver || c.Op == cases.Idle || client == cases.Memaslap {
		return 0
	}
	if c.MaxCounts > 0 {
		return min(c.MaxCounts, o.CountTurns)
	}
	return o.CountTurns
}

// wholeSeconds rounds up to what other programs take for a duration.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
