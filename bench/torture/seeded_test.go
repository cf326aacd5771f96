package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport/transporttest"
)

// TestStandIn is what the tests below run in place of a seeded test of the library, in a process of its own,
// where the environment says how it shall behave. Otherwise it does nothing.
func TestStandIn(t *testing.T) {
	how := os.Getenv("STANDIN")
	if how == "" {
		return
	}
	seeds := transporttest.NewSeeds(t, 10)
	var n atomic.Uint64
	end := seeds.Watch(t, func() string {
		n := n.Load()
		return fmt.Sprintf("seeds=%d ops=%d wrong=%d recovered=75.00%% owed=4 saved=3 provoked=7", n, 2*n, n/8)
	})
	for seed := range seeds.Each() {
		if n.Add(1); seed != 8 {
			continue
		}
		switch how {
		case "fail":
			t.Errorf("seed %d failed; replay: SEED=%d go test\nbecause", seed, seed)
		case "crash":
			pprof.Do(t.Context(), pprof.Labels("seed", fmt.Sprint(seed)), func(context.Context) {
				go func() { panic("crash") }()
				select {}
			})
		}
	}
	end()
	if how == "odd" {
		t.Error("the score does not tell of this")
	}
}

// standIn runs the stand-in, and cancels it when until says so. It returns what came of it and what was said.
func standIn(t *testing.T, how string, until func(counts) bool, env ...string) (c *child, log string, failed []failure) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := seeded{part: "standin", dir: "somewhere", test: "TestStandIn"}
	c = &child{
		part: p,
		say:  func(format string, a ...any) { log += fmt.Sprintf(format+"\n", a...) },
		fail: func(seed uint64, again string) { failed = append(failed, failure{"standin", seed, again}) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if until != nil {
		go func() {
			for n, _ := c.state(); ctx.Err() == nil && !until(n); n, _ = c.state() {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
	}
	cmd := exec.CommandContext(ctx, self, "-test.run", "^TestStandIn$", "-test.v")
	require.NoError(t, p.run(ctx, cmd, append(env, "STANDIN="+how), c))
	return c, log, failed
}

func TestSeededScore(t *testing.T) {
	t.Setenv("SEED", "77") // which is not for the child
	c, log, failed := standIn(t, "well", nil, "SEED=3", "SEEDS=5")
	n, line := c.state()
	require.Equal(t, counts{seeds: 5, ops: 10, owed: 4, saved: 3, provoked: 7}, n)
	require.Contains(t, line, "first=3")
	require.Empty(t, failed)
	require.Empty(t, log, "what is said is worth it")
}

func TestSeededFailure(t *testing.T) {
	c, log, failed := standIn(t, "fail", nil, "SEEDS=9")
	n, _ := c.state()
	require.EqualValues(t, 9, n.seeds)
	require.EqualValues(t, 1, n.wrong)
	require.Zero(t, n.broken, "it is counted as what it is")
	require.Equal(t, []failure{{"standin", 8, "SEED=8 go test"}}, failed)
	require.Contains(t, log, "because")
}

// A test that dies of a panic says which seed it was.
func TestSeededCrash(t *testing.T) {
	c, log, failed := standIn(t, "crash", nil, "SEEDS=9")
	n, _ := c.state()
	require.True(t, n.faulty())
	require.Len(t, failed, 1)
	require.EqualValues(t, 8, failed[0].seed)
	require.Contains(t, failed[0].again, "SEED=8 go test -count 20 -run '^TestStandIn$' ./somewhere")
	require.Contains(t, log, "panic: crash")
}

// A test that fails for another reason than a seed is not overlooked.
func TestSeededOddFailure(t *testing.T) {
	c, log, _ := standIn(t, "odd", nil, "SEEDS=2")
	n, _ := c.state()
	require.Equal(t, counts{seeds: 2, ops: 4, owed: 4, saved: 3, provoked: 7, broken: 1}, n)
	require.Contains(t, log, "the score does not tell of this")
}

// An interrupt ends the test in good order.
func TestSeededInterrupt(t *testing.T) {
	var before counts
	c, log, failed := standIn(t, "well", func(n counts) bool { before = n; return n.seeds > 0 }, "FOR=1h")
	after, _ := c.state()
	require.Greater(t, after.seeds, before.seeds, "the last score was told when the test ended")
	require.Zero(t, after.broken)
	require.Empty(t, failed)
	require.Empty(t, log)
}
