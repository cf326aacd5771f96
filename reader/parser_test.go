package reader

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Slot is nil between replies, and is the one slot that q no longer has.
func TestSlot(t *testing.T) {
	var log []string
	q := newFIFO([]Expect{meta(1, ""), values("a")}, &log, nil)
	var p Parser
	require.Nil(t, p.Slot())
	for _, s := range []struct {
		window string
		used   int
		slot   Slot
	}{
		{"", 0, nil},
		{"V", 0, q.slots[0]},
		{"VA 3 O1\r\n", 9, q.slots[0]},
		{"abc", 3, q.slots[0]},
		{"\r", 0, q.slots[0]},
		{"\r\n", 2, nil},
		{"VALUE a 0 1\r\nx\r\n", 16, q.slots[1]},
		{"END\r\n", 5, nil},
	} {
		used, err := p.Parse([]byte(s.window), q)
		require.NoError(t, err)
		require.Equal(t, s.used, used)
		require.True(t, p.Slot() == s.slot, "after %q", s.window)
	}
}

// Landed stands in for the Chunks of bytes that never were in a window.
func TestLanded(t *testing.T) {
	var log []string
	q := newFIFO([]Expect{meta(1, ""), meta(2, "")}, &log, nil)
	r := q.slots[0].(*recorder)
	var p Parser
	require.Zero(t, p.ValueLeft())
	require.NoError(t, p.Landed(0))

	window := []byte("VA 10 O1\r\nabc")
	used, err := p.Parse(window, q)
	require.NoError(t, err)
	require.Equal(t, len(window), used)
	require.Equal(t, 7, p.ValueLeft())

	require.NoError(t, p.Landed(3))
	require.NoError(t, p.Landed(0))
	require.Equal(t, 4, p.ValueLeft())
	require.NoError(t, p.Landed(4))
	require.Zero(t, p.ValueLeft())
	r.left -= 7

	window = []byte("\r\nHD O2\r\n")
	used, err = p.Parse(window, q)
	require.NoError(t, err)
	require.Equal(t, len(window), used)
	require.Equal(t, []string{"0: value n10 f0 c0", `0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}, log)
}

func TestLandedTooMuch(t *testing.T) {
	for _, n := range []int{-1, 4} {
		var log []string
		q := newFIFO([]Expect{meta(1, "")}, &log, nil)
		var p Parser
		_, err := p.Parse([]byte("VA 3 O1\r\n"), q)
		require.NoError(t, err)
		err = p.Landed(n)
		require.ErrorIs(t, err, ErrDesync)
		require.Zero(t, p.ValueLeft())
		require.True(t, p.Slot() == q.slots[0])
		checkPoison(t, &p, q, err)
	}
	var p Parser
	require.ErrorIs(t, p.Landed(1), ErrDesync)
}
