package client_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memring/memring/client/transport/transporttest"
)

// simSeeds is how many simulations a plain go test runs.
const simSeeds = 10_000

// simWatchdog is the real time after which a simulation is stuck in a way that
// virtual time cannot see: spinning, or in a mutex. One takes milliseconds.
const simWatchdog = 20 * time.Second

// simScore adds up simulations.
type simScore struct {
	mu sync.Mutex
	seeds, ops, wrong, hangs, leaks, timeouts, owed, saved,
	desyncs, provoked, other, losses uint64
}

// String is the score in one line. desyncs are those that no server has
// provoked: the servers of some seeds forge replies, and then the client has to
// notice. recovered is the share of requests given up whose late reply came, out
// of those that no fault has kept from being answered.
func (sc *simScore) String() string {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	recovered := 100.0
	if sc.owed > 0 {
		recovered = 100 * float64(sc.saved) / float64(sc.owed)
	}
	return fmt.Sprintf("seeds=%d ops=%d wrong=%d hangs=%d leaks=%d timeouts=%d recovered=%.2f%% desyncs=%d provoked=%d broken=%d owed=%d saved=%d losses=%d",
		sc.seeds, sc.ops, sc.wrong, sc.hangs, sc.leaks, sc.timeouts, recovered, sc.desyncs, sc.provoked, sc.other, sc.owed, sc.saved, sc.losses)
}

// run runs one seed and adds it. It returns what went wrong.
func (sc *simScore) run(t *testing.T, seed uint64) []string {
	watchdog := time.AfterFunc(simWatchdog, func() { sc.giveUp(seed) })
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
		synctest.Test(t, func(t *testing.T) {
			// All goroutines inherit it: GODEBUG=tracebacklabels=1 has a crash name its seed.
			pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("seed", fmt.Sprint(seed))))
			s = simulate(seed)
		})
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
	provoked := min(r.counters.Desyncs, uint64(s.forged.Load()))
	sc.provoked += provoked
	sc.desyncs += r.counters.Desyncs - provoked
	sc.ops += uint64(r.ops)
	sc.timeouts += r.counters.Timeouts
	sc.owed += r.owed
	sc.saved += r.saved
	sc.losses += r.counters.Losses
	return problems
}

// giveUp ends the test: a simulation that is stuck in real time cannot be left.
func (sc *simScore) giveUp(seed uint64) {
	sc.mu.Lock()
	sc.seeds++
	sc.hangs++
	sc.mu.Unlock()
	fmt.Fprintf(os.Stderr, "score %v\n", sc)
	buf := make([]byte, 1<<20)
	panic(simFailure(seed, []string{"hang: stuck in real time", string(buf[:runtime.Stack(buf, true)])}))
}

// TestSimulation runs the client against scripted servers in virtual time, each
// seed another schedule of calls, timeouts, cancellations and faults. Seeds fix
// all that is drawn; which goroutine of several that are ready runs first is
// the scheduler's choice, so a failure may need a few repeats (-count) to show
// again. Which seeds are run can be chosen, see [transporttest.Seeds].
func TestSimulation(t *testing.T) {
	seeds := transporttest.NewSeeds(t, simSeeds)
	sc := new(simScore)
	end := seeds.Watch(t, sc.String)
	var failed atomic.Int32
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for seed := range seeds.Each() {
					problems := sc.run(t, seed)
					if len(problems) == 0 {
						continue
					}
					t.Error(simFailure(seed, problems))
					if failed.Add(1) == 20 {
						seeds.Stop()
					}
				}
			})
		}
	})
	end()
}

// FuzzSimulation is TestSimulation with the fuzzer's seeds.
func FuzzSimulation(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed * 1_000_003)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if problems := new(simScore).run(t, seed); len(problems) > 0 {
			t.Error(simFailure(seed, problems))
		}
	})
}

// simFailure is a report whose first line make torture looks for.
func simFailure(seed uint64, problems []string) string {
	return fmt.Sprintf("seed %d failed; replay: SEED=%d go test -count 20 -run '^TestSimulation$' ./client\n%s",
		seed, seed, strings.Join(problems, "\n"))
}
