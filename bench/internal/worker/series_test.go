package worker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
)

const ms = time.Millisecond

func TestSeriesPutsCallsWhereTheyEnded(t *testing.T) {
	s := newSeries(100*ms, 250*ms)
	require.Len(t, s.cells, 3, "the last interval is a part of one")
	a, b := trail{s: s}, trail{s: s}
	for range blockOps + 10 { // more than a caller keeps to itself
		a.add(99*ms, 2*ms, false)
	}
	a.add(100*ms, 50*ms, true)
	b.add(10*ms, 2*ms, false)
	b.add(260*ms, ms, false) // a call that outlasted the slice
	a.drain()
	b.drain()
	got := s.ticks()
	require.EqualValues(t, blockOps+11, got[0].Ops)
	require.InDelta(t, 2*ms, got[0].P99, float64(ms)/50)
	require.Zero(t, got[0].Errors)
	require.EqualValues(t, 1, got[1].Errors)
	require.Zero(t, got[1].Ops, "a call that failed is no operation")
	require.InDelta(t, 50*ms, got[1].P99, float64(ms), "but its latency counts")
	require.EqualValues(t, 1, got[2].Ops)
}

// scripted answers a watch in a bubble's time: every 25 ms a connection is opened.
func scripted(conn net.Conn, begin time.Time, stalls chan<- time.Duration) {
	in := bufio.NewScanner(conn)
	for in.Scan() {
		now := time.Since(begin)
		switch in.Text() {
		case "stats":
			fmt.Fprintf(conn, "STAT pid 1\r\nSTAT total_connections %d\r\nEND\r\n", 7+now/(25*ms))
		case "stall 200":
			stalls <- now
			fmt.Fprint(conn, "OK\r\n")
		default:
			fmt.Fprint(conn, "ERROR\r\n")
		}
	}
}

func TestWatchCountsConnectionsAndAsksForTheStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		begin, stalls := time.Now(), make(chan time.Duration, 2)
		go scripted(theirs, begin, stalls)
		w := &watch{ours, bufio.NewReader(ours)}
		s := newSeries(100*ms, 500*ms)
		require.NoError(t, w.run(s, begin, cases.Faults{Stall: 200 * ms, StallAt: 250 * ms}))
		for _, tick := range s.ticks() {
			require.EqualValues(t, 4, tick.Dials)
		}
		require.Equal(t, 250*ms, <-stalls)
		require.Empty(t, stalls, "once in a slice")
		require.Equal(t, 500*ms, time.Since(begin))

		require.NoError(t, w.run(newSeries(100*ms, 200*ms), time.Now(), cases.Faults{Stall: 200 * ms, StallAt: 250 * ms}))
		require.Empty(t, stalls, "a slice that ends before it has none")
		_, err := w.ask("nonsense", "END")
		require.ErrorContains(t, err, "nonsense")
		w.close()
	})
}

// flaky fails every third call, wrongly from some call on.
type flaky struct {
	fake
	calls, wrongFrom int
}

func (f *flaky) Get(key string) ([]byte, error) {
	f.calls++
	switch {
	case f.wrongFrom > 0 && f.calls >= f.wrongFrom:
		key = "other"
	case f.calls%3 == 0:
		return nil, errors.New("too late")
	}
	time.Sleep(ms) // a bubble's
	return f.fake.Get(key)
}

func TestFollowCountsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cases.Case{Op: cases.Get, Callers: 1, Size: 100, Tick: 10 * ms}
		l, err := newLoad(Spec{Case: c}, &flaky{fake: fake{size: 100}})
		require.NoError(t, err)
		s := newSeries(c.Tick, 20*ms)
		done, failed, err := l.follow(0, &shift{begin: time.Now(), d: 20 * ms}, s)
		require.NoError(t, err)
		require.EqualValues(t, 20, done)
		require.EqualValues(t, 9, failed)
		got := s.ticks()
		require.EqualValues(t, 20, got[0].Ops+got[1].Ops)
		require.EqualValues(t, 9, got[0].Errors+got[1].Errors)
		require.EqualValues(t, 29, l.rec.count(), "all calls are in the slice's latencies")

		l, err = newLoad(Spec{Case: c}, &flaky{fake: fake{size: 100}, wrongFrom: 5})
		require.NoError(t, err)
		_, _, err = l.follow(0, &shift{begin: time.Now(), d: 20 * ms}, newSeries(c.Tick, 20*ms))
		_, ok := errors.AsType[*peers.WrongValueError](err)
		require.True(t, ok, "a wrong value ends the run, whatever may fail")
	})
}
