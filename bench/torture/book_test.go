package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tick makes the clock move on, so that one thing is after another.
func tick() int64 {
	for t := now(); ; {
		if u := now(); u > t {
			return u
		}
	}
}

func put(t *testing.T, p *page, how outcome) uint64 {
	v := p.begin("set", false)
	tick()
	require.NoError(t, p.end(v, how))
	tick()
	return v
}

func TestPageKnowsWhatIsStale(t *testing.T) {
	p := newPage(false)
	require.NoError(t, p.sawNothing(now()), "nothing was written yet")
	begun := now()
	first := put(t, p, landed)
	require.NoError(t, p.saw(first, begun, tick()))
	require.NoError(t, p.sawNothing(begun), "the read began before the write")
	require.Error(t, p.sawNothing(tick()), "it vanished")

	between := tick()
	second := put(t, p, landed)
	require.NoError(t, p.saw(first, between, tick()), "the read began before the second write had ended")
	require.Error(t, p.saw(first, tick(), tick()), "stale")
	require.NoError(t, p.saw(second, tick(), tick()))
	require.Error(t, p.saw(second+1, tick(), tick()), "never written")
}

func TestPageOfWritesWithUnknownOutcome(t *testing.T) {
	p := newPage(false)
	lost := put(t, p, unknown)
	second := put(t, p, landed)
	require.NoError(t, p.saw(second, tick(), tick()))
	require.NoError(t, p.saw(lost, tick(), tick()), "it was late")
	require.NoError(t, p.saw(second, tick(), tick()), "nobody knows the order of the two")
	third := put(t, p, landed)
	require.Error(t, p.saw(lost, tick(), tick()), "a write happens once")
	require.NoError(t, p.saw(third, tick(), tick()))
}

func TestPageOfWritesThatDidNotHappen(t *testing.T) {
	p := newPage(false)
	no := put(t, p, refused)
	require.Error(t, p.saw(no, tick(), tick()))

	seen := p.begin("set", false)
	require.NoError(t, p.saw(seen, tick(), tick()), "it is under way")
	require.Error(t, p.end(seen, refused), "it was seen, so it cannot have been refused")
}

func TestPageOfLateNews(t *testing.T) {
	p := newPage(false)
	lost := put(t, p, unknown)
	second := put(t, p, landed)
	require.Error(t, p.late("delete", landed), "there was none")
	require.NoError(t, p.late("set", landed))
	require.NoError(t, p.saw(lost, tick(), tick()), "it happened after the second or before")
	third := put(t, p, landed)
	require.Error(t, p.saw(lost, tick(), tick()), "it had happened before the third began")
	require.NoError(t, p.saw(third, tick(), tick()))
	require.Error(t, p.saw(second, tick(), tick()))
	require.Error(t, p.late("set", landed), "it was told already")

	never, either := put(t, p, unknown), put(t, p, unknown)
	require.NoError(t, p.late("set", refused), "nobody knows which of the two")
	require.NoError(t, p.saw(never, tick(), tick()))
	require.NoError(t, p.saw(either, tick(), tick()))
}

func TestPageOfDeletions(t *testing.T) {
	p := newPage(false)
	put(t, p, landed)
	v := p.begin("delete", true)
	require.NoError(t, p.sawNothing(tick()), "the deletion is under way")
	require.NoError(t, p.end(v, landed))
	require.NoError(t, p.sawNothing(tick()))
	put(t, p, landed)
	require.Error(t, p.sawNothing(tick()))
	require.NoError(t, newPage(true).sawNothing(tick()))
}

func TestTab(t *testing.T) {
	var n tab
	before := n.begin()
	require.NoError(t, n.end(1, before))
	before = n.begin()
	require.Error(t, n.end(1, before), "the first is missing")
	require.Error(t, n.end(4, n.begin()), "there were not so many")
}

func TestValues(t *testing.T) {
	v := makeValue(nil, 7, "key", 3, 1000)
	version, err := readValue(v, flagsOf(3), 7, "key")
	require.NoError(t, err)
	require.EqualValues(t, 3, version)
	other := makeValue(nil, 7, "key", 4, 1000)
	torn := append(append([]byte(nil), v[:500]...), other[500:]...)
	for what, bad := range map[string][]byte{"torn": torn, "short": v[:999], "empty": nil, "long": append(v, 'x')} {
		_, err := readValue(bad, flagsOf(3), 7, "key")
		require.Error(t, err, what)
	}
	_, err = readValue(v, flagsOf(3), 7, "yek")
	require.Error(t, err)
	_, err = readValue(v, flagsOf(3), 8, "key")
	require.Error(t, err)
	_, err = readValue(v, flagsOf(4), 7, "key")
	require.Error(t, err)
}

func TestLateness(t *testing.T) {
	var l lateness
	for i := range 1000 {
		l.add(time.Duration(i) * 100 * time.Microsecond)
	}
	require.Equal(t, 99900*time.Microsecond, l.longest())
	require.InDelta(t, 50, inMS(l.quantile(0.5)), 0.2)
	require.EqualValues(t, 499, l.over.Load())
}

func TestLateCallsAreExcusedByTheMachine(t *testing.T) {
	at := func(n int64) int64 { return n * int64(time.Millisecond) }
	var s stalls
	s.callWasLate(at(100), at(140))
	s.callWasLate(at(200), at(300))
	require.EqualValues(t, 1, s.unexplained(), "one was late by 100 ms, the other by 40")
	s.machineStood(at(180), at(220))
	require.EqualValues(t, 1, s.unexplained())
	s.machineStood(at(190), at(222))
	s.machineStood(at(185), at(200))
	require.EqualValues(t, 1, s.unexplained(), "22 ms of 100, however often they are told")
	s.machineStood(at(222), at(260))
	require.Zero(t, s.unexplained())
}
