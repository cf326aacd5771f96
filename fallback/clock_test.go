package fallback

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

type signaller struct{ w *transport.Waiter }

func (s signaller) Received(window []byte) (int, []byte, error) {
	s.w.Signal()
	return len(window), nil, nil
}

func (s signaller) Landed(int) ([]byte, error) { return nil, nil }

func (s signaller) Closed(error) {}

// inBubble runs f with a connection whose server is the other end of a pipe.
func inBubble(t *testing.T, f func(c *conn, w *transport.Waiter, server net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		e := New(nil)
		w := new(transport.Waiter)
		w.Init()
		ours, theirs := net.Pipe()
		c, err := e.Adopt(ours, signaller{w})
		require.NoError(t, err)
		f(c.(*conn), w, theirs)
		require.NoError(t, e.Close())
	})
}

func (c *conn) state() (b baton, byCaller bool, w watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.baton, c.hold.w != nil, c.watched
}

func TestIdleEngineRests(t *testing.T) {
	inBubble(t, func(c *conn, _ *transport.Waiter, _ net.Conn) {
		b, _, _ := c.state()
		assert.Equal(t, free, b)
		time.Sleep(2 * idleAfter)
		synctest.Wait()
		b, byCaller, watch := c.state()
		assert.Equal(t, held, b, "an idle connection has no keeper")
		assert.False(t, byCaller)
		assert.Equal(t, unwatched, watch)
		assert.EqualValues(t, int64(never), c.eng.clock.next.Load(), "the clock of an idle engine still runs")
	})
}

// A keeper that has delivered a reply leaves if a caller has come, and returns
// when the connection has been idle again.
func TestKeeperMakesRoom(t *testing.T) {
	inBubble(t, func(c *conn, w *transport.Waiter, server net.Conn) {
		time.Sleep(2 * idleAfter)
		synctest.Wait()
		done := make(chan error)
		go func() { done <- c.eng.Wait(w, []transport.Conn{c}, time.Time{}, nil) }()
		synctest.Wait()
		_, byCaller, _ := c.state()
		require.False(t, byCaller, "the caller relies on the keeper")
		_, err := server.Write([]byte("reply"))
		require.NoError(t, err)
		require.NoError(t, <-done)
		synctest.Wait()
		b, _, _ := c.state()
		assert.Equal(t, free, b)
		time.Sleep(2 * idleAfter)
		synctest.Wait()
		b, _, _ = c.state()
		assert.Equal(t, held, b)
	})
}

// Late replies that nobody waits for are read as fast as they come, not one
// window every idleAfter. In a bubble, where nothing else takes time, that is at
// once.
func TestKeeperDrains(t *testing.T) {
	inBubble(t, func(c *conn, w *transport.Waiter, server net.Conn) {
		require.ErrorIs(t, c.eng.Wait(w, []transport.Conn{c}, time.Now().Add(idleAfter), nil), transport.ErrTimeout)
		time.Sleep(2 * idleAfter) // a keeper has taken over
		begun := time.Now()
		for range 1000 {
			_, err := server.Write(make([]byte, 1000))
			require.NoError(t, err)
		}
		assert.Zero(t, time.Since(begun))
	})
}

// The clock's part in both kinds of limits of a caller that is blocked in a
// read. In a bubble their lateness is exact.
func TestHolderIsInterrupted(t *testing.T) {
	inBubble(t, func(c *conn, w *transport.Waiter, _ net.Conn) {
		on := []transport.Conn{c}
		for _, patience := range []time.Duration{time.Microsecond, 3 * time.Millisecond, time.Minute} {
			start := time.Now()
			err := c.eng.Wait(w, on, start.Add(patience), nil)
			require.ErrorIs(t, err, transport.ErrTimeout)
			assert.Less(t, time.Since(start)-patience, 2*time.Millisecond)

			start = time.Now()
			done := make(chan struct{})
			time.AfterFunc(patience, func() { close(done) })
			err = c.eng.Wait(w, on, time.Time{}, done)
			require.ErrorIs(t, err, transport.ErrCanceled)
			assert.LessOrEqual(t, time.Since(start)-patience, 2*pollEvery)
		}
	})
}
