package client_test

import (
	"math/rand/v2"
	"time"

	"github.com/memring/memring/client"
)

// simPlan is what a seed decides for a whole simulation.
type simPlan struct {
	seed    uint64
	servers int
	callers int
	ops     int // of each caller
	pad     int // the longest padding of a value

	config client.Config

	level    simLevel
	rate     float64       // of requests that meet a fault
	slowness time.Duration // the longest delay
	lag      float64       // of server reads that are delayed
	closeAt  time.Duration // when the client is closed under load, or 0
}

// simLevel is how bad servers may be. Each level includes those before it.
type simLevel uint8

const (
	simClean   simLevel = iota // only callers give up
	simSlow                    // delays, splits, stalls that end
	simLossy                   // stalls that don't, error lines, broken and refused connections
	simHostile                 // replies that no memcached sends
)

// simRand is a source of its own for each purpose, so that what one goroutine
// draws does not depend on another.
func simRand(seed, purpose, a, b uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose<<56^a<<32^b))
}

const (
	simForPlan = iota
	simForConn
	simForRequest
	simForCaller
)

func newSimPlan(seed uint64) simPlan {
	r := simRand(seed, simForPlan, 0, 0)
	p := simPlan{
		seed:     seed,
		servers:  1 + r.IntN(3),
		callers:  2 + r.IntN(10),
		ops:      4 + r.IntN(20),
		pad:      simPick(r, 20, 200, 200, 3000),
		level:    simPick(r, simClean, simSlow, simSlow, simSlow, simLossy, simLossy, simLossy, simHostile, simHostile, simHostile),
		rate:     simPick(r, 0.03, 0.1, 0.3),
		slowness: simPick(r, time.Millisecond, 20*time.Millisecond, 60*time.Millisecond),
		lag:      simPick(r, 0, 0, 0.1, 0.5),
		config: client.Config{
			ConnsPerServer: 1 + r.IntN(3),
			SpareConns:     simPick(r, 0, 0, 2, 5),
			OpTimeout:      simPick(r, 5*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond, 60*time.Millisecond),
			DialTimeout:    simPick(r, 10*time.Millisecond, 50*time.Millisecond),
			StallLimit:     simPick(r, -1, 20*time.Millisecond, 100*time.Millisecond, time.Second),
			MaxDebt:        simPick(r, -1, 1, 3, 1024),
			DirectReceive:  simPick(r, 0, 1, 1, 20, 150),
			DirectSend:     simPick(r, 0, 1, 1, 50, 200),
		},
	}
	if r.IntN(100) == 0 {
		p.pad = 80 << 10 // more than a window
	}
	if r.IntN(6) == 0 {
		p.closeAt = simSpan(r, 80*time.Millisecond)
	}
	p.config.PoisonLeases = r.IntN(4) == 0
	return p
}

// version is what the servers say they are: one that needs two requests for a get that
// depends on the CAS, or one that needs one.
func (p *simPlan) version() string {
	if p.seed%3 == 0 {
		return "1.6.45"
	}
	return "1.6.18"
}

// gentle says that no connection can be lost: nothing breaks one, and the
// client has no reason to. Servers that only answer late are never silent for a
// second.
func (p *simPlan) gentle() bool {
	patient := p.config.StallLimit < 0 || p.config.StallLimit >= time.Second && p.lag == 0
	return p.level <= simSlow && p.config.MaxDebt < 0 && patient
}

// healing says that the client can get rid of connections that hang for ever.
func (p *simPlan) healing() bool { return p.level <= simSlow || p.config.StallLimit > 0 }

func simPick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// simSpan is a random duration up to limit, with the short ones favoured.
func simSpan(r *rand.Rand, limit time.Duration) time.Duration {
	return time.Duration(r.Float64() * r.Float64() * float64(limit))
}
