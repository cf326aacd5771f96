package fallback

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// kept is the memory that a connection could do without while it is idle, in bytes.
func (c *conn) kept() (bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch != nil {
		bytes++
	}
	if c.seats != nil {
		bytes++
	}
	return bytes + len(c.window) + c.pend.Cap() + c.flight.Cap()
}

func restIn(t *testing.T, c *conn) {
	time.Sleep(6 * idleAfter)
	synctest.Wait()
	assert.Zero(t, c.kept())
	b, byCaller, watch := c.state()
	assert.Equal(t, held, b)
	assert.False(t, byCaller)
	assert.Equal(t, unwatched, watch)
	assert.EqualValues(t, int64(never), c.eng.clock.next.Load(), "the clock of an idle engine still runs")
}

// However a connection was used last, it has given everything back some
// milliseconds later, and works as before.
func TestRest(t *testing.T) {
	inBubble(t, func(c *conn, w *transport.Waiter, server net.Conn) {
		on, several := []transport.Conn{c}, []transport.Conn{c, c}
		reply := make([]byte, 3*nookSize)
		say := func() {
			_, err := server.Write(reply)
			require.NoError(t, err)
		}
		hear := func() {
			_, err := server.Read(make([]byte, 1<<20))
			require.NoError(t, err)
		}
		send := func() {
			_, err := c.Send(make([]byte, 100_000), nil, nil, nil)
			require.NoError(t, err)
		}
		for name, use := range map[string]func(){
			"not at all": func() {},
			"one call": func() {
				send()
				go func() { hear(); say() }()
				require.NoError(t, c.eng.Wait(w, on, time.Time{}, nil))
			},
			"calls in a row": func() {
				for range 20 {
					send()
					go func() { hear(); say() }()
					require.NoError(t, c.eng.Wait(w, on, time.Time{}, nil))
					time.Sleep(idleAfter / 5)
				}
				assert.Positive(t, c.kept(), "it was not idle")
			},
			"a call that a keeper serves": func() {
				send()
				go func() { hear(); say() }()
				require.NoError(t, c.eng.Wait(w, several, time.Time{}, nil))
			},
			"a call that gives up": func() {
				send()
				go hear()
				require.ErrorIs(t, c.eng.Wait(w, on, time.Now().Add(time.Millisecond), nil), transport.ErrTimeout)
			},
			"a call of several that gives up": func() {
				send()
				go hear()
				require.ErrorIs(t, c.eng.Wait(w, several, time.Now().Add(time.Minute), nil), transport.ErrTimeout)
			},
			"a late reply": func() { say(); synctest.Wait(); w.Take() },
			"many callers": func() {
				var all [100]transport.Waiter
				ended := make(chan error)
				go func() { _, _ = io.CopyN(io.Discard, server, int64(len(all))*100_000) }()
				for i := range all {
					all[i].Init()
					send()
					go func() { ended <- c.eng.Wait(&all[i], on, time.Now().Add(time.Minute), nil) }()
				}
				for range all {
					require.ErrorIs(t, <-ended, transport.ErrTimeout)
				}
			},
		} {
			use()
			restIn(t, c)
			w.Take()
			if t.Failed() {
				t.Fatal("the use was: ", name)
			}
		}
	})
}

// What is larger than the nook comes whole, and once, after a rest.
func TestWakes(t *testing.T) {
	for _, size := range []int{1, nookSize - 1, nookSize, nookSize + 1, transport.WindowSize, 3 * transport.WindowSize} {
		synctest.Test(t, func(t *testing.T) {
			e := New(nil)
			ours, theirs := net.Pipe()
			g := &gatherer{w: new(transport.Waiter), want: size}
			g.w.Init()
			tc, err := e.Adopt(ours, g)
			require.NoError(t, err)
			for range 2 {
				restIn(t, tc.(*conn))
				g.got = nil
				go func() {
					b := make([]byte, size)
					for i := range b {
						b[i] = byte(i % 251)
					}
					_, _ = theirs.Write(b)
				}()
				require.NoError(t, e.Wait(g.w, []transport.Conn{tc}, time.Time{}, nil))
				require.Len(t, g.got, size)
				for i, b := range g.got {
					require.Equal(t, byte(i%251), b, i)
				}
			}
			require.NoError(t, e.Close())
		})
	}
}

// A gatherer keeps what comes, and leaves some of each window for the next.
type gatherer struct {
	w    *transport.Waiter
	want int
	got  []byte
}

func (g *gatherer) Received(window []byte) (int, []byte, error) {
	n := len(window)
	if len(g.got)+n < g.want {
		n -= n / 3
	}
	if g.got = append(g.got, window[:n]...); len(g.got) == g.want {
		g.w.Signal()
	}
	return n, nil, nil
}

func (g *gatherer) Landed(int) ([]byte, error) { return nil, nil }
func (g *gatherer) Closed(error)               {}
