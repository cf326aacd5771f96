package ring

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeSeeds is how many seeds a plain go test runs.
const fakeSeeds = 10000

// seedTime is how long one may take before it counts as a hang.
const seedTime = 60 * time.Second

// TestFakeKernel runs the engine over a fake kernel with faults of all kinds:
// SEEDS=n seeds, or SEED=n alone. A seed fixes the faults and what the callers
// do; the scheduler decides how they interleave, so a failure may take several
// runs of its seed to come back (go test -run TestFakeKernel -count 100).
//
// Checked: the peer gets exactly what was queued, in order; every reply comes to
// its request, whole; a waiter is signalled once for each; Wait gives up only for
// a reason and in time; handler calls never overlap and Closed is the last, once;
// no memory is written to while the kernel has it; no two sends, or receives,
// are in flight on a socket; descriptors are closed only when nothing is; when
// Close returns, the kernel has nothing, and no slot, socket or goroutine is left.
func TestFakeKernel(t *testing.T) {
	first, seeds := uint64(1), uint64(fakeSeeds)
	if testing.Short() {
		seeds /= 10
	}
	if s := os.Getenv("SEEDS"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		seeds = n
	}
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		first, seeds = n, 1
	}
	fds := openFDs(t)
	begun := time.Now()

	var total fakeScore
	faults := map[string]int{}
	var mu sync.Mutex
	var hangs, leaks, wrong, ran int
	var enters uint64
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range 12 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				mu.Lock()
				stop := i >= seeds || hangs+wrong+leaks > 10
				mu.Unlock()
				if stop {
					return
				}
				var score fakeScore
				f, err := timedFake(first+i, &score)
				mu.Lock()
				ran++
				switch {
				case err != nil:
					hangs++
					t.Errorf("SEED=%d: %v", first+i, err)
				default:
					for k, v := range f.k.faults {
						faults[k] += v
					}
					enters += f.e.enters.Load()
				}
				score.mu.Lock()
				for _, s := range score.wrong {
					if strings.HasPrefix(s, "leak") {
						leaks++
					} else {
						wrong++
					}
					t.Errorf("SEED=%d: %s", first+i, s)
				}
				score.mu.Unlock()
				mu.Unlock()
				total.add(&score)
			}
		})
	}
	wg.Wait()
	if hangs == 0 {
		require.Eventually(t, func() bool { return openFDs(t) <= fds }, 5*time.Second, 10*time.Millisecond, "descriptors leaked")
	}
	line := fmt.Sprintf("seeds=%d ops=%d wrong=%d hangs=%d leaks=%d replies=%d failed=%d timeouts=%d canceled=%d retracted=%d reclaimed=%d conns=%d enters=%d latest_ms=%d seconds=%d",
		ran, total.ops.Load(), wrong, hangs, leaks, total.replies.Load(), total.failed.Load(), total.timeouts.Load(), total.canceled.Load(),
		total.retracted.Load(), total.reclaimed.Load(), total.conns.Load(), enters, total.latest.Load()/1e6, int(time.Since(begun).Seconds()))
	for _, k := range slices.Sorted(maps.Keys(faults)) {
		line += fmt.Sprintf(" %s=%d", k, faults[k])
	}
	t.Log(line)
}

// timedFake runs a seed, and gives up on one that hangs.
func timedFake(seed uint64, score *fakeScore) (*fakeRun, error) {
	f, err := newFakeRun(seed, score)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run()
	}()
	select {
	case <-done:
		return f, nil
	case <-time.After(seedTime):
		if os.Getenv("SEED") != "" {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
		return nil, fmt.Errorf("hangs: %s", f.state())
	}
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

func openFDs(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}
