package ring

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// A signaller signals its waiter for whatever comes, and may be told that much has
// to come before.
type signaller struct {
	w    *transport.Waiter
	left int
}

func (s *signaller) Received(window []byte) (int, []byte, error) {
	if s.left -= len(window); s.left <= 0 {
		s.w.Signal()
	}
	return len(window), nil, nil
}
func (*signaller) Landed(int) ([]byte, error) { return nil, nil }
func (*signaller) Closed(error)               {}

// echoer dials a server of its own that says everything again.
func echoer(t *testing.T, e *Engine) (*conn, *signaller) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(c, c)
		_ = c.Close()
	}()
	h := &signaller{w: newWaiter()}
	c, err := e.Dial(context.Background(), "tcp", l.Addr().String(), h)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, c.Close())
		<-ended
		assert.NoError(t, l.Close())
	})
	return c.(*conn), h
}

// say sends a head and a body, which is lent, and waits for both to come back.
func say(t *testing.T, c *conn, h *signaller, head, body []byte) {
	var loan transport.Loan
	h.left = len(head) + len(body)
	_, err := c.Send(head, body, nil, &loan)
	require.NoError(t, err)
	require.NoError(t, c.e.Wait(h.w, nil, time.Time{}, nil))
	soon(t, "the loan is over", loan.Over)
}

func (c *conn) kept() (bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.msg != nil {
		bytes++
	}
	return bytes + c.pending.Cap() + c.flying.Cap()
}

func realEngine(t *testing.T) *Engine {
	e, err := New()
	if err != nil {
		t.Skipf("there is no io_uring here, so its engine cannot be tested: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, e.Close()) })
	return e
}

// A connection that falls idle gives its buffers back although others go on, and
// takes new ones when it is used again.
func TestIdleAmongBusy(t *testing.T) {
	e := realEngine(t)
	busy, busyH := echoer(t, e)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				say(t, busy, busyH, []byte("busy"), nil)
			}
		}
	}()
	idle, h := echoer(t, e)
	for range 2 {
		say(t, idle, h, make([]byte, 100_000), make([]byte, 1000))
		soon(t, "the idle connection has no buffer", func() bool { return idle.kept() == 0 })
	}
	close(stop)
	<-done
}

// All give them back when the ring falls idle, also one that was used while the
// keeper watched, and never more than once in a while.
func TestIdleRing(t *testing.T) {
	e := realEngine(t)
	c, h := echoer(t, e)
	for range 3 {
		soon(t, "the keeper watches", func() bool { return e.keeper.watching.Load() && e.keeper.tick.Load() == int32(noTick) })
		say(t, c, h, make([]byte, 1000), nil)
		soon(t, "the connection has no buffer", func() bool { return c.kept() == 0 })
	}
	require.False(t, e.holdsBuffers())
}

// Buffers that are in use when the ring falls idle go when they are not.
func TestIdleBlocked(t *testing.T) {
	e := realEngine(t)
	l, err := net.Listen("unix", t.TempDir()+"/s")
	require.NoError(t, err)
	defer l.Close()
	h := &signaller{w: newWaiter(), left: 1}
	tc, err := e.Dial(context.Background(), "unix", l.Addr().String(), h)
	require.NoError(t, err)
	c := tc.(*conn)
	server, err := l.Accept()
	require.NoError(t, err)
	const size = 4 << 20 // more than the socket takes
	_, err = c.Send(make([]byte, size), nil, nil, nil)
	require.NoError(t, err)
	require.ErrorIs(t, e.Wait(h.w, nil, time.Now().Add(time.Millisecond), nil), transport.ErrTimeout)
	soon(t, "the ring falls idle", func() bool { return e.keeper.watching.Load() && e.keeper.tick.Load() == int32(noTick) })
	require.Positive(t, c.kept())
	_, err = io.CopyN(io.Discard, server, size)
	require.NoError(t, err)
	soon(t, "the connection has no buffer", func() bool { return c.kept() == 0 })
	require.NoError(t, c.Close())
	require.NoError(t, server.Close())
}
