package transporttest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var closeCases = []testCase{
	{
		name:  "CloseIdle",
		means: "Close of a connection that nobody uses isn't followed by Closed, or can't be repeated",
		run: func(e *env) {
			addr := e.serve(echoLines)
			for _, use := range []int{0, 1} {
				l := e.dial(addr)
				for range use {
					l.echo(newWaiter(), "used")
				}
				require.NoError(e, l.conn.Close())
				require.NoError(e, l.conn.Close())
				require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
				require.NoError(e, l.conn.Close())
				_, err := l.conn.Send([]byte("x"), nil, nil, nil)
				require.ErrorIs(e, err, transport.ErrClosed)
			}
		},
	},
	{
		name:  "CloseDuringWait",
		means: "Close doesn't end the waits on its connection, or deadlocks with a caller's lock that Closed needs",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			p := <-accepted
			var wg sync.WaitGroup
			for range 4 {
				c, err := l.send(newWaiter(), "?")
				require.NoError(e, err)
				wg.Go(func() {
					if _, err := l.wait(c, far(), nil); !errors.Is(err, transport.ErrClosed) {
						e.Errorf("wait: %v", err)
					}
				})
				p.heard("?")
			}
			l.mu.Lock()
			require.NoError(e, l.conn.Close())
			l.mu.Unlock()
			wg.Wait()
			require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
		},
	},
	{
		name:  "CloseFromHandler",
		means: "a handler that closes its connection deadlocks, or is called once more with bytes",
		run: func(e *env) {
			addr, accepted := e.puppets()
			w := newWaiter()
			var l *link
			ready := make(chan struct{})
			l = e.dialWith(addr, func(window []byte) (int, error) {
				<-ready
				if err := l.conn.Close(); err != nil {
					e.Errorf("Close: %v", err)
				}
				return 0, nil
			})
			close(ready)
			p := <-accepted
			l.mu.Lock()
			l.queue = append(l.queue, &call{w: w})
			l.mu.Unlock()
			go p.say("close it\n")
			require.NoError(e, e.engine.Wait(w, l.on, far(), nil))
			require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
		},
	},
	{
		name:  "CloseOtherFromHandler",
		means: "a handler can't close another connection, as a client does when a server is given up",
		run: func(e *env) {
			addr, accepted := e.puppets()
			other := e.dial(addr)
			<-accepted
			l := e.dialWith(addr, func(window []byte) (int, error) {
				if err := other.conn.Close(); err != nil {
					e.Errorf("Close: %v", err)
				}
				return len(window), nil
			})
			p := <-accepted
			p.say("close it\n")
			w := newWaiter()
			c := &call{w: w}
			other.mu.Lock()
			if other.end == nil {
				other.queue = append(other.queue, c)
			} else {
				c.finish(other.end)
			}
			other.mu.Unlock()
			require.NoError(e, e.engine.Wait(w, []transport.Conn{other.conn, l.conn}, far(), nil))
			require.ErrorIs(e, other.awaitClosed(), transport.ErrClosed)
		},
	},
	{
		name:  "CloseInTraffic",
		means: "Close in the midst of traffic crashes, hangs or breaks the order of the handler's calls",
		run: func(e *env) {
			addr := e.serve(echoLines)
			for round := range 20 {
				l := e.dial(addr)
				var wg sync.WaitGroup
				begin := make(chan struct{})
				for range 3 {
					wg.Go(func() {
						<-begin
						_ = l.conn.Close()
					})
				}
				var made atomic.Int32
				e.crowd(8, func(n int, rng *rand.Rand, w *transport.Waiter) {
					for {
						if made.Add(1) == int32(50*round+1) {
							close(begin)
						}
						if _, err := l.do(w, "request"); err != nil {
							require.ErrorIs(e, err, transport.ErrClosed)
							return
						}
					}
				})
				wg.Wait()
				require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
			}
		},
	},
	{
		name:  "EngineClose",
		means: "Engine.Close leaves waits, connections or goroutines behind, or accepts new connections",
		run: func(e *env) {
			addr, accepted := e.puppets()
			var wg sync.WaitGroup
			for range 5 {
				l := e.dial(addr)
				p := <-accepted
				for range 3 {
					c, err := l.send(newWaiter(), "?")
					require.NoError(e, err)
					wg.Go(func() {
						if _, err := l.wait(c, far(), nil); !errors.Is(err, transport.ErrClosed) {
							e.Errorf("wait: %v", err)
						}
					})
					p.heard("?")
				}
				idle := e.dial(addr)
				<-accepted
				inUse := e.dial(addr)
				inSync(e, inUse, <-accepted)
				_ = idle
			}
			for range 2 {
				wg.Go(func() {
					if err := e.engine.Close(); err != nil {
						e.Errorf("Close: %v", err)
					}
					e.checkClosed()
				})
			}
			wg.Wait()
			require.NoError(e, e.engine.Close())
			_, err := e.engine.Dial(context.Background(), e.network, addr, e.links[0])
			require.ErrorIs(e, err, transport.ErrClosed)
		},
	},
}
