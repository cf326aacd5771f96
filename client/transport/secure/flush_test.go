package secure_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
)

// An engine that looks at what is handed on, and at who waits.
type watched struct {
	secure.Inner
	onSend func(size int)
	onWait func(w *transport.Waiter)
}

type watchedConn struct {
	transport.Conn
	e *watched
}

func (e *watched) Dial(ctx context.Context, network, addr string, h transport.Handler) (transport.Conn, error) {
	c, err := e.Inner.Dial(ctx, network, addr, h)
	return watchedConn{c, e}, err
}

func (e *watched) Wait(w *transport.Waiter, on []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	e.onWait(w)
	inner := make([]transport.Conn, len(on))
	for i, c := range on {
		inner[i] = c.(watchedConn).Conn
	}
	return e.Inner.Wait(w, inner, deadline, done)
}

func (c watchedConn) Send(head, body, tail []byte, loan *transport.Loan) (int, error) {
	c.e.onSend(len(head) + len(body) + len(tail))
	return c.Conn.Send(head, body, tail, loan)
}

// Whose request another caller encrypts, together with its own, does not wait on the
// inner engine before that has it: nobody might send it then.
func TestWaitAfterHandingOn(t *testing.T) {
	cert := selfSigned(t)
	for name, inner := range inners {
		t.Run(name, func(t *testing.T) {
			server := func(nc net.Conn) {
				srv := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}})
				_, _ = io.Copy(srv, srv)
			}
			var open, handing, early atomic.Bool
			e := &watched{Inner: inner(t), onSend: func(int) {}}
			e.onWait = func(*transport.Waiter) {
				if handing.Load() {
					early.Store(true)
				}
			}
			talk(t, e, server, func(se *secure.Engine, c transport.Conn, h *taker) {
				w := new(transport.Waiter)
				w.Init()
				var wg sync.WaitGroup
				e.onSend = func(size int) {
					if size == 0 || !open.Swap(false) {
						return
					}
					handing.Store(true)
					wg.Go(func() { _ = se.Wait(w, []transport.Conn{c}, time.Now().Add(time.Millisecond), nil) })
					for i := 0; i < 1e5 && !early.Load(); i++ {
						runtime.Gosched() // it has its chance
					}
					handing.Store(false)
				}
				_, err := c.Send([]byte("theirs and "), nil, nil, nil)
				require.NoError(t, err)
				_, err = c.Send([]byte("ours"), nil, nil, nil)
				require.NoError(t, err)
				open.Store(true)
				for !h.has(len("theirs and ours")) {
					require.NoError(t, se.Wait(h.w, []transport.Conn{c}, time.Now().Add(20*time.Second), nil))
				}
				wg.Wait()
				require.False(t, open.Load(), "it was handed on")
				require.False(t, early.Load(), "it waited already")
			})
		})
	}
}
