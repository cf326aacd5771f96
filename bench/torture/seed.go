package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/memring/memring/client"
)

// plan is what a seed stands for. The schedule of faults and what each goroutine asks for come out of the
// seed too; what the machine makes of it does not.
type plan struct {
	seed    uint64
	engine  client.EngineKind
	network string
	fault   fault
	cfg     client.Config
	length  time.Duration
	callers int
	think   time.Duration
}

// names of the engines on the command line.
func engineName(k client.EngineKind) string {
	if k == client.URing {
		return "uring"
	}
	return "poll"
}

// engineNames are those of the closes and servers of a run.
func (s *settings) engineNames() string {
	names := make([]string, len(s.engines))
	for i, k := range s.engines {
		names[i] = engineName(k)
	}
	return strings.Join(names, ", ")
}

// planOf goes through all engines, networks and faults within as many seeds in a row.
func planOf(seed uint64, s *settings) plan {
	p := plan{seed: seed, callers: s.callers, think: s.think, length: s.length}
	n := seed
	next := func(of int) int {
		i := int(n % uint64(of))
		n /= uint64(of)
		return i
	}
	p.engine = s.engines[next(len(s.engines))]
	p.fault = s.faults[next(len(s.faults))]
	p.length = max(p.length, p.fault.least)
	p.network = []string{"tcp", "unix"}[next(2)]

	r := rand.New(rand.NewPCG(seed, 1))
	p.cfg = client.Config{
		Engine:         p.engine,
		Rings:          1 + r.IntN(2),
		ConnsPerServer: 1 + r.IntN(4),
		OpTimeout:      loadOpTimeout,
		MaxDebt:        s.maxDebt, // by default none: the load can abandon more than the client's while a server is stopped
	}
	if p.fault.tune != nil {
		p.fault.tune(&p.cfg)
	}
	return p
}

func (p plan) String() string {
	return fmt.Sprintf("seed %d: %s on %s, %s", p.seed, p.fault.name, engineName(p.engine), p.network)
}
