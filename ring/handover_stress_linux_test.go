package ring

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// TestHandoverStress ties the model to the code: callers come and go over a
// fake kernel that does nothing wrong, without deadlines and without the keeper,
// whose ticks would repair a lost wake-up after some milliseconds. So one that is
// lost stays lost, and the test hangs.
func TestHandoverStress(t *testing.T) {
	begun := time.Now()
	seeds, ops := uint64(0), int64(0)
	for limit := 5 * time.Second; time.Since(begun) < limit && (seeds < 50 || !testing.Short()); seeds++ {
		r := rand.New(rand.NewPCG(seeds, 3))
		e, k, err := newFakeEngine(rand.New(rand.NewPCG(seeds, 4)))
		require.NoError(t, err)
		// Queues with room: what does not fit may wait for a tick.
		*k.q = *newFakeQueue(64, 256)
		k.odds, k.calm = fakeOdds{late: k.odds.late}, true
		close(e.keeper.gone)
		var score fakeScore
		f := &fakeRun{e: e, k: k, score: &score, r: r, lines: []*fakeLine{{}, {}}}
		for range 2 + r.IntN(4) {
			r := f.rand()
			f.wg.Go(func() { f.caller(r, 100) })
		}
		done := make(chan struct{})
		go func() {
			f.wg.Wait()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("seed %d: a wake-up is lost: %s", seeds, f.state())
		}
		// Somebody has to drive for Close, since nobody keeps.
		f.closing.Store(true)
		f.wg.Go(func() {
			w := new(transport.Waiter)
			w.Init()
			_ = f.wait(w, time.Time{}, nil)
		})
		f.close()
		require.Empty(t, score.wrong, "seed %d", seeds)
		ops += score.ops.Load()
	}
	t.Logf("seeds=%d ops=%d seconds=%d", seeds, ops, int(time.Since(begun).Seconds()))
}
