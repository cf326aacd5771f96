package ring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// lander has all that comes land, until it wants no more.
type lander struct {
	ender
	leaving bool
	over    *transport.Waiter // signalled then
}

func (l *lander) Received(window []byte) (int, []byte, error) {
	return len(window), make([]byte, 100), nil
}

func (l *lander) Landed(int) ([]byte, error) {
	if l.leaving {
		l.over.Signal()
		return nil, nil
	}
	return make([]byte, 100), nil
}

// waitSome waits for n milliseconds, in short waits, since there is no keeper to
// end a long one.
func waitSome(e *Engine, w *transport.Waiter, n int) (err error) {
	for range n {
		e.keeper.looked.Store(transport.Now()) // as it would
		if err = e.Wait(w, nil, time.Now().Add(time.Millisecond), nil); err == nil {
			break
		}
	}
	return err
}

// TestMissedCancellation: whatever the kernel says of a cancellation, an operation
// that goes on is cancelled again.
func TestMissedCancellation(t *testing.T) {
	for name, answers := range map[string][]int32{
		"running":    {-int32(unix.EALREADY), -int32(unix.EALREADY), -int32(unix.EALREADY)},
		"not found":  {-int32(unix.ENOENT), -int32(unix.ENOENT), -int32(unix.ENOENT)},
		"overlooked": {0},
	} {
		t.Run(name+" receive", func(t *testing.T) {
			e := stoppable(t)
			k := e.k.(*fakeKernel)
			h := &lander{ender: ender{newWaiter()}, over: newWaiter()}
			c, f := mute(t, e, k, h)
			k.mu.Lock()
			f.inbox = []byte("x")
			f.progress()
			k.missed = answers
			k.mu.Unlock()
			require.ErrorIs(t, waitSome(e, newWaiter(), 1), transport.ErrTimeout)
			require.NotEmpty(t, c.into)
			h.leaving = true
			c.Divert()
			require.NoError(t, waitSome(e, h.over, 1000))
			assert.Empty(t, k.missed)
		})
		t.Run(name+" send", func(t *testing.T) {
			e := stoppable(t)
			k := e.k.(*fakeKernel)
			c, f := mute(t, e, k, ender{newWaiter()})
			f.room = 0
			var loan transport.Loan
			_, err := c.Send([]byte("head"), []byte("body"), nil, &loan)
			require.NoError(t, err)
			for !c.async || !c.sending {
				require.ErrorIs(t, waitSome(e, newWaiter(), 1), transport.ErrTimeout)
			}
			k.missed = answers
			w := newWaiter()
			require.False(t, c.Reclaim(&loan, w))
			require.NoError(t, waitSome(e, w, 1000))
			assert.True(t, c.Reclaim(&loan, w))
			assert.Empty(t, k.missed)
		})
	}
}
