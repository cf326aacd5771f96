package ring

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport/transporttest"
)

// fakeSeeds is how many seeds a plain go test runs.
const fakeSeeds = 10000

// seedTime is how long one may take before it counts as a hang. It takes
// milliseconds.
const seedTime = 20 * time.Second

// TestFakeKernel runs the engine over a fake kernel with faults of all kinds. A
// seed fixes the faults and what the callers do; the scheduler decides how they
// interleave, so a failure may take several runs of its seed to come back
// (-count). Which seeds are run can be chosen, see [transporttest.Seeds].
//
// Checked: the peer gets exactly what was queued, in order; every reply comes to
// its request, whole; a waiter is signalled once for each; Wait gives up only for
// a reason and in time; handler calls never overlap and Closed is the last, once;
// no memory is written to while the kernel has it; no two sends, or receives,
// are in flight on a socket; descriptors are closed only when nothing is; when
// Close returns, the kernel has nothing, and no slot, socket or goroutine is left.
func TestFakeKernel(t *testing.T) {
	count := uint64(fakeSeeds)
	if testing.Short() {
		count /= 10
	}
	before := openFDs(t)
	seeds := transporttest.NewSeeds(t, count)
	total := &fakeTotal{faults: make(map[string]int), hung: make(chan struct{})}
	end := seeds.Watch(t, total.String)
	var wg sync.WaitGroup
	for range 12 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds.Each() {
				if problems := total.run(seed); len(problems) > 0 {
					t.Errorf("seed %d failed; replay: SEED=%d go test -count 100 -run '^TestFakeKernel$' ./ring\n%s",
						seed, seed, strings.Join(problems, "\n"))
				}
				if total.enough() {
					seeds.Stop()
				}
			}
		})
	}
	wg.Wait()
	if total.hangs == 0 && !assert.Eventually(t, func() bool { return openFDs(t) <= before }, 5*time.Second, 10*time.Millisecond,
		"descriptors leaked") {
		total.leaks++
	}
	end()
}

// fakeTotal adds up seeds.
type fakeTotal struct {
	hung chan struct{} // closed at the first hang

	mu     sync.Mutex
	score  fakeScore
	seeds  int
	wrong  int
	hangs  int
	leaks  int
	enters uint64
	faults map[string]int
}

// String is the score in one line, with the faults that the kernel has made.
func (t *fakeTotal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.score
	line := fmt.Sprintf("seeds=%d ops=%d wrong=%d hangs=%d leaks=%d timeouts=%d replies=%d failed=%d canceled=%d retracted=%d reclaimed=%d conns=%d enters=%d latest_ms=%d",
		t.seeds, s.ops.Load(), t.wrong, t.hangs, t.leaks, s.timeouts.Load(), s.replies.Load(), s.failed.Load(), s.canceled.Load(),
		s.retracted.Load(), s.reclaimed.Load(), s.conns.Load(), t.enters, s.latest.Load()/1e6)
	for _, k := range slices.Sorted(maps.Keys(t.faults)) {
		line += fmt.Sprintf(" %s=%d", k, t.faults[k])
	}
	return line
}

// enough is when no more seeds are needed to see that it doesn't work.
func (t *fakeTotal) enough() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hangs > 0 || t.wrong+t.leaks > 10
}

// run runs a seed and adds it. It returns what went wrong. At the first hang the
// seeds under way are left alone as well: many of them may hang.
func (t *fakeTotal) run(seed uint64) (problems []string) {
	score := new(fakeScore)
	f, err := newFakeRun(seed, score)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.wrong++
		return []string{err.Error()}
	}
	done := make(chan struct{})
	// All goroutines inherit the label: GODEBUG=tracebacklabels=1 has a crash name its seed.
	go pprof.Do(context.Background(), pprof.Labels("seed", fmt.Sprint(seed)), func(context.Context) {
		defer close(done)
		f.run()
	})
	timeout := time.NewTimer(seedTime)
	defer timeout.Stop()
	hangs := false
	select {
	case <-done:
	case <-t.hung:
		return nil
	case <-timeout.C:
		hangs = true
		problems = append(problems, "hang: "+f.state())
		if os.Getenv("SEED") != "" {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeds++
	switch {
	case !hangs:
		for k, v := range f.k.faults {
			t.faults[k] += v
		}
		t.enters += f.e.enters.Load()
	case t.hangs == 0:
		t.hangs++
		close(t.hung)
	default:
		t.hangs++
	}
	score.mu.Lock()
	defer score.mu.Unlock()
	for _, s := range score.wrong {
		if strings.HasPrefix(s, "leak") {
			t.leaks++
		} else {
			t.wrong++
			s = "wrong: " + s
		}
		problems = append(problems, s)
	}
	t.score.add(score)
	return problems
}

func (s *fakeScore) add(o *fakeScore) {
	s.ops.Add(o.ops.Load())
	s.replies.Add(o.replies.Load())
	s.failed.Add(o.failed.Load())
	s.timeouts.Add(o.timeouts.Load())
	s.canceled.Add(o.canceled.Load())
	s.retracted.Add(o.retracted.Load())
	s.reclaimed.Add(o.reclaimed.Load())
	s.conns.Add(o.conns.Load())
	s.latest.Store(max(s.latest.Load(), o.latest.Load()))
}

// openFDs counts the descriptors, with those of Go's poller, which is made for
// the first pipe and stays.
func openFDs(t *testing.T) int {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}
