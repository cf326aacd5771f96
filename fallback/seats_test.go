package fallback

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

func parkedWaiter(t *testing.T) *transport.Waiter {
	w := new(transport.Waiter)
	w.Init()
	require.True(t, w.Park(0))
	return w
}

func TestSeatsPromoteInOrder(t *testing.T) {
	var s seats
	a, b, c := parkedWaiter(t), parkedWaiter(t), parkedWaiter(t)
	s.add(a)
	seatB := s.add(b)
	s.add(c)
	require.True(t, seatB.leave(b))
	require.True(t, s.promote())
	assert.True(t, a.Sleep(nil).Lead)
	require.True(t, s.promote())
	assert.True(t, c.Sleep(nil).Lead)
	assert.False(t, s.promote())
}

// A caller whose seat was emptied under it knows that it may be promoted, and
// one that has left its seat can't be, whatever it does next.
func TestSeatLeft(t *testing.T) {
	var s seats
	w := parkedWaiter(t)
	first := s.add(w)
	w.Signal()
	w.Sleep(nil)
	require.True(t, w.Take())
	require.True(t, first.leave(w))
	require.True(t, w.Park(0)) // elsewhere
	assert.False(t, s.promote(), "a caller was promoted for a wait that is over")
}

func TestSeatsStayFew(t *testing.T) {
	var s seats
	s.add(parkedWaiter(t)) // sleeps on, at the front
	for range 100 * minSeats {
		w := parkedWaiter(t)
		require.True(t, s.add(w).leave(w))
	}
	assert.LessOrEqual(t, cap(s.row)+cap(s.unused), 8*minSeats)
	assert.True(t, s.promote())
}
