package transporttest_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport/transporttest"
)

// environ sets what the environment says of seeds.
func environ(t *testing.T, seed, seeds, length string) {
	for name, value := range map[string]string{"SEED": seed, "SEEDS": seeds, "FOR": length, "PROGRESS": ""} {
		t.Setenv(name, value)
	}
}

func TestSeedsByNumber(t *testing.T) {
	for _, c := range []struct {
		seed, seeds string
		want        []uint64
	}{
		{"", "", []uint64{1, 2, 3}},
		{"", "2", []uint64{1, 2}},
		{"7", "", []uint64{7}},
		{"7", "2", []uint64{7, 8}},
	} {
		environ(t, c.seed, c.seeds, "")
		require.Equal(t, c.want, slices.Collect(transporttest.NewSeeds(t, 3).Each()), "SEED=%s SEEDS=%s", c.seed, c.seeds)
	}
}

func TestSeedsByTime(t *testing.T) {
	run := func(t *testing.T) (got []uint64) {
		for seed := range transporttest.NewSeeds(t, 3).Each() {
			got = append(got, seed)
			time.Sleep(time.Second)
		}
		return got
	}
	environ(t, "", "", "1m")
	synctest.Test(t, func(t *testing.T) {
		first := run(t)
		require.Len(t, first, 60)
		require.NotContains(t, first, run(t)[0], "a later run finds new ground")
	})
	environ(t, "5", "", "2s")
	synctest.Test(t, func(t *testing.T) { require.Equal(t, []uint64{5, 6}, run(t)) })
	environ(t, "5", "1", "2s")
	synctest.Test(t, func(t *testing.T) { require.Equal(t, []uint64{5}, run(t)) })
}

func TestSeedsAreShared(t *testing.T) {
	environ(t, "", "1000", "")
	seeds := transporttest.NewSeeds(t, 3)
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := make(map[uint64]bool)
	for range 8 {
		wg.Go(func() {
			for seed := range seeds.Each() {
				mu.Lock()
				got[seed] = true
				if len(got) == 500 {
					seeds.Stop()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.GreaterOrEqual(t, len(got), 500)
	require.Less(t, len(got), 510, "it was stopped")
	for seed := range uint64(500) {
		require.True(t, got[seed+1], "each comes to somebody")
	}
}
