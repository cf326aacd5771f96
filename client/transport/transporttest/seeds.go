package transporttest

import (
	"fmt"
	"iter"
	"math"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Seeds are the runs of a test that draws whatever it does from a number. The
// environment chooses them:
//
//	SEEDS=1000    so many, from seed 1 on
//	SEED=5        seed 5 alone; with SEEDS or FOR, the first of several
//	FOR=30s       as many as there is time for, from one that the clock gives
//	PROGRESS=10s  writes the score to stderr so often, and at the end; an
//	              interrupt ends the test after the seeds that are under way
//
// go test ends a test after ten minutes, so a longer FOR needs its -timeout.
type Seeds struct {
	first, count uint64
	begun        time.Time
	length       time.Duration // or 0: no bound
	every        time.Duration // or 0: no progress

	next    atomic.Uint64
	stopped atomic.Bool
}

// NewSeeds reads the environment. If that says nothing, there are count seeds.
// What it can't read fails the test at once.
func NewSeeds(tb testing.TB, count uint64) *Seeds {
	tb.Helper()
	s := &Seeds{first: 1, count: count, begun: time.Now()}
	s.every = duration(tb, "PROGRESS")
	if s.length = duration(tb, "FOR"); s.length > 0 {
		s.first, s.count = uint64(s.begun.UnixMicro()), math.MaxUint64
	}
	if n, ok := number(tb, "SEED"); ok {
		if s.first = n; s.length == 0 {
			s.count = 1
		}
	}
	if n, ok := number(tb, "SEEDS"); ok {
		s.count = n
	}
	return s
}

func number(tb testing.TB, name string) (n uint64, ok bool) {
	v := os.Getenv(name)
	if v == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return n, true
}

func duration(tb testing.TB, name string) time.Duration {
	v := os.Getenv(name)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q is not positive", v)
	}
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return d
}

// Each returns the seeds, until there are no more or the time is up. Any number
// of goroutines may loop over it at once; each seed comes to one of them.
func (s *Seeds) Each() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for !s.stopped.Load() && (s.length == 0 || time.Since(s.begun) < s.length) {
			n := s.next.Add(1) - 1
			if n >= s.count || !yield(s.first+n) {
				return
			}
		}
	}
}

// Stop ends the seeds.
func (s *Seeds) Stop() { s.stopped.Store(true) }

// Watch tells the score, which is a line of key=value pairs, while the test
// runs, if PROGRESS asks for that. The caller calls end when all seeds are done,
// which tells it for the last time; without PROGRESS it goes to the test's log.
func (s *Seeds) Watch(tb testing.TB, score func() string) (end func()) {
	if s.every == 0 {
		return func() { tb.Log(s.line(score)) }
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprintln(os.Stderr, "score", s.line(score))
			case <-interrupts:
				s.Stop()
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(interrupts)
		close(done)
		wg.Wait()
		fmt.Fprintln(os.Stderr, "score", s.line(score))
	}
}

func (s *Seeds) line(score func() string) string {
	return fmt.Sprintf("%s first=%d seconds=%.1f", score(), s.first, time.Since(s.begun).Seconds())
}
