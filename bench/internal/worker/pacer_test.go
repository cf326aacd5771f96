package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

func TestPacersInterleave(t *testing.T) {
	const callers, rate = 4, 1000
	seen := map[time.Duration]bool{}
	for i := range callers {
		p := newPacer(rate, i, callers)
		for range 10 {
			seen[p.next()] = true
		}
	}
	require.Len(t, seen, 40)
	for i := range time.Duration(40) {
		require.True(t, seen[i*ms], "a request each millisecond")
	}
}

// steady answers at once but for one call, which takes a while.
type steady struct {
	fake
	calls, slow int
	took        time.Duration
}

func (f *steady) Get(key string) ([]byte, error) {
	if f.calls++; f.calls == f.slow {
		time.Sleep(f.took)
	}
	return f.fake.Get(key)
}

// TestRateHasNoCoordinatedOmission: requests that were due while their caller was held up are late, each
// by what was left.
func TestRateHasNoCoordinatedOmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cases.Case{Op: cases.Get, Callers: 1, Size: 100, Rate: 1000}
		l, err := newLoad(Spec{Case: c}, &steady{fake: fake{size: 100}, slow: 11, took: 20 * ms})
		require.NoError(t, err)
		begin := time.Now()
		done, _, err := l.follow(0, &shift{begin: begin, d: 100 * ms}, nil)
		require.NoError(t, err)
		require.EqualValues(t, 100, done, "held-up requests are sent as soon as can be, none is left out")
		require.Equal(t, 100*ms, time.Since(begin))
		require.InDelta(t, 20*ms, l.rec.quantile(100), float64(ms)/10)
		require.InDelta(t, 10*ms, l.rec.quantile(90), float64(ms), "20 of 100 were late: by 20 ms, 19 ms, and so on")
		require.Zero(t, l.rec.quantile(75))
	})
}

// TestRateIsNoHang: where requests come faster than they are answered, each is later than the one before, but
// no call takes longer.
func TestRateIsNoHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := newLoad(Spec{Case: cases.Case{Op: cases.Get, Callers: 1, Size: 100, Rate: 1000}}, slower{fake{size: 100}})
		require.NoError(t, err)
		for range 2 { // what was measured before is forgotten
			_, _, err = l.follow(0, &shift{begin: time.Now(), d: 100 * ms}, nil)
			require.NoError(t, err)
			require.Greater(t, l.rec.quantile(100), 80*ms, "latency counts from when a request was due")
			require.Equal(t, 10*ms, l.longest())
		}
	})
}

// slower takes 10 ms for each call.
type slower struct{ fake }

func (f slower) Get(key string) ([]byte, error) {
	time.Sleep(10 * ms)
	return f.fake.Get(key)
}

func TestRateEndsWithTheSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cases.Case{Op: cases.Get, Callers: 1, Size: 100, Rate: 1000}
		l, err := newLoad(Spec{Case: c}, &steady{fake: fake{size: 100}, slow: 1, took: 500 * ms})
		require.NoError(t, err)
		done, _, err := l.follow(0, &shift{begin: time.Now(), d: 100 * ms}, nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, done, "what a client can't keep up with is not sent after the slice")

		l, err = newLoad(Spec{Case: cases.Case{Op: cases.Get, Callers: 1, Size: 100, Rate: 1}}, fake{size: 100})
		require.NoError(t, err)
		begin := time.Now()
		done, _, err = l.follow(0, &shift{begin: begin, d: 100 * ms}, nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, done)
		require.Equal(t, 100*ms, time.Since(begin))
	})
}
