package client_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// simSeeds is how many simulations a plain go test runs. SEEDS overrides it;
// SEED is the first one, and then only that unless SEEDS says more.
const simSeeds = 10_000

// simWatchdog is the real time after which a simulation is stuck in a way that
// virtual time cannot see: spinning, or in a mutex.
const simWatchdog = time.Minute

// simScore adds up simulations.
type simScore struct {
	mu sync.Mutex
	seeds, ops, wrong, hangs, leaks, other, timeouts, recovered, desyncs,
	losses uint64
}

func (sc *simScore) String() string {
	return fmt.Sprintf("seeds=%d ops=%d wrong=%d hangs=%d leaks=%d timeouts=%d recovered=%d desyncs=%d losses=%d broken=%d",
		sc.seeds, sc.ops, sc.wrong, sc.hangs, sc.leaks, sc.timeouts, sc.recovered, sc.desyncs, sc.losses, sc.other)
}

// run runs one seed and adds it. It returns what went wrong.
func (sc *simScore) run(t *testing.T, seed uint64) []string {
	watchdog := time.AfterFunc(simWatchdog, func() {
		buf := make([]byte, 1<<20)
		panic(fmt.Sprintf("simulation %d is stuck in real time\n%s", seed, buf[:runtime.Stack(buf, true)]))
	})
	defer watchdog.Stop()
	var s *sim
	var stuck string
	func() {
		defer func() {
			if p := recover(); p != nil {
				buf := make([]byte, 64<<10)
				stuck = fmt.Sprintf("%v\n%s", p, buf[:runtime.Stack(buf, false)])
			}
		}()
		synctest.Test(t, func(*testing.T) { s = simulate(seed) })
	}()

	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.seeds++
	var problems []string
	switch {
	case stuck != "" && s != nil: // the bubble's main goroutine has returned
		sc.leaks++
		problems = append(problems, "leak: "+stuck)
	case stuck != "":
		sc.hangs++
		problems = append(problems, "hang: "+stuck)
	}
	if s == nil {
		return problems
	}
	add := func(n *uint64, kind string, list []string) {
		*n += uint64(len(list))
		for _, p := range list {
			problems = append(problems, kind+": "+p)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.result
	add(&sc.wrong, "wrong", r.wrongs)
	add(&sc.hangs, "hang", r.hangs)
	add(&sc.other, "broken", r.others)
	sc.ops += uint64(r.ops)
	sc.timeouts += r.counters.Timeouts
	sc.recovered += r.recovered
	sc.desyncs += r.counters.Desyncs
	sc.losses += r.counters.Losses
	return problems
}

// TestSimulation runs the client against scripted servers in virtual time, each
// seed another schedule of calls, timeouts, cancellations and faults. Seeds fix
// all that is drawn; which goroutine of several that are ready runs first is
// the scheduler's choice, so a failure may need a few repeats (-count) to show
// again.
func TestSimulation(t *testing.T) {
	first, count := uint64(1), uint64(simSeeds)
	if v, ok := simEnv(t, "SEED"); ok {
		first, count = v, 1
	}
	if v, ok := simEnv(t, "SEEDS"); ok {
		count = v
	}
	sc := new(simScore)
	var next atomic.Uint64
	var failed atomic.Int32
	t.Run("seeds", func(t *testing.T) {
		for range min(runtime.GOMAXPROCS(0), 2) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for failed.Load() < 20 {
					n := next.Add(1) - 1
					if n >= count {
						return
					}
					if problems := sc.run(t, first+n); len(problems) > 0 {
						failed.Add(1)
						simReport(t, first+n, problems)
					}
				}
			})
		}
	})
	t.Log(sc)
}

// FuzzSimulation is TestSimulation with the fuzzer's seeds.
func FuzzSimulation(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed * 1_000_003)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if problems := new(simScore).run(t, seed); len(problems) > 0 {
			simReport(t, seed, problems)
		}
	})
}

func simReport(t *testing.T, seed uint64, problems []string) {
	t.Errorf("seed %d failed; replay: SEED=%d go test -run TestSimulation ./client/\n%s",
		seed, seed, strings.Join(problems, "\n"))
}

func simEnv(t *testing.T, name string) (uint64, bool) {
	s := os.Getenv(name)
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n, true
}
