package transporttest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var severalCases = []testCase{
	{
		name:  "Wake",
		means: "a caller that drives is not woken by a signal from outside: a multi-get does not notice that a server was connected to",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			<-accepted
			w := newWaiter()
			for range 50 {
				go e.engine.Wake(w)
				require.NoError(e, e.engine.Wait(w, l.on, far(), nil))
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
				returned := make(chan error)
				go func() { returned <- e.engine.Wait(w, l.on, far(), nil) }()
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) // it drives by now, or not
				e.engine.Wake(w)
				require.NoError(e, <-returned)
			}
		},
	},
	{
		name:  "WaitOnSeveral",
		means: "of several connections that one caller waits on, only some are driven: a multi-get hangs",
		run: func(e *env) {
			addr := e.serve(echoLines)
			links := []*link{e.dial(addr), e.dial(addr), e.dial(addr)}
			w := newWaiter()
			for i := range 200 {
				if !e.multi(w, links, fmt.Sprint("round ", i)) {
					return
				}
			}
		},
	},
	{
		name:  "StalledAmongSeveral",
		means: "one stalled server among several keeps a caller from the replies of the others",
		run: func(e *env) {
			addr, accepted := e.puppets()
			stalled := e.dial(addr)
			p := <-accepted
			good := e.serve(echoLines)
			links := []*link{stalled, e.dial(good), e.dial(good)}
			for round := range 3 {
				w := newWaiter()
				calls := make([]*call, len(links))
				on := make([]transport.Conn, len(links))
				for i, l := range links {
					var err error
					calls[i], err = l.send(w, "request")
					require.NoError(e, err)
					on[(i+round)%len(on)] = l.conn
				}
				// The two that answer may have one signal or two between them.
				for !calls[1].finished(links[1]) || !calls[2].finished(links[2]) {
					require.NoError(e, e.engine.Wait(w, on, far(), nil))
				}
				w.Take()
				require.ErrorIs(e, e.engine.Wait(w, on, soon(), nil), transport.ErrTimeout)
				done := make(chan struct{})
				close(done)
				require.ErrorIs(e, e.engine.Wait(w, on, far(), done), transport.ErrCanceled)
				stalled.mu.Lock()
				calls[0].w = nil
				stalled.mu.Unlock()
				p.heard("request")
				p.say("at last\n")
				inSync(e, stalled, p)
				for _, l := range links[1:] {
					require.True(e, l.echo(newWaiter(), "in sync"))
				}
			}
		},
	},
	{
		name:  "EndAmongSeveral",
		means: "a connection that ends while a caller waits on it and others stops the wait on the others",
		run: func(e *env) {
			addr, accepted := e.puppets()
			dying := e.dial(addr)
			p1 := <-accepted
			lasting := e.dial(addr)
			p2 := <-accepted
			w := newWaiter()
			c1, err := dying.send(w, "one")
			require.NoError(e, err)
			c2, err := lasting.send(w, "two")
			require.NoError(e, err)
			var wg sync.WaitGroup
			wg.Go(func() {
				p1.heard("one")
				p2.heard("two")
				_ = p1.Close()
				<-dying.closed
				p2.say("reply\n")
			})
			for !c1.finished(dying) || !c2.finished(lasting) {
				require.NoError(e, e.engine.Wait(w, []transport.Conn{dying.conn, lasting.conn}, far(), nil))
			}
			wg.Wait()
			require.ErrorIs(e, c1.err, transport.ErrEOF)
			require.NoError(e, c2.err)
			require.Equal(e, "reply", string(c2.reply))
		},
	},
	{
		name:  "SeveralAndCrowd",
		means: "callers that wait on one connection and callers that wait on several wait for each other for ever",
		run: func(e *env) {
			addr := e.serve(echoLines)
			links := make([]*link, 4)
			for i := range links {
				links[i] = e.dial(addr)
			}
			e.crowd(16, func(n int, rng *rand.Rand, w *transport.Waiter) {
				for i := range 150 {
					line := fmt.Sprint(n, " ", i)
					switch rng.IntN(3) {
					case 0:
						if !e.multi(w, links[rng.IntN(3):], line) {
							return
						}
					case 1:
						if !oneOfChaos(links[rng.IntN(4)], rng, w, line) {
							return
						}
					default:
						if !links[rng.IntN(4)].echo(w, line) {
							return
						}
					}
				}
			})
		},
	},
	{
		name:  "WaitOnNone",
		means: "a caller that waits for something else than a connection isn't woken",
		run: func(e *env) {
			w := newWaiter()
			require.ErrorIs(e, e.engine.Wait(w, nil, soon(), nil), transport.ErrTimeout)
			var posted atomic.Bool
			go func() {
				posted.Store(true)
				w.Signal()
			}()
			require.NoError(e, e.engine.Wait(w, nil, far(), nil))
			require.True(e, posted.Load())
		},
	},
	{
		name:  "Stalled",
		means: "a stalled connection holds up callers of other connections",
		run: func(e *env) {
			stalled := e.dial(e.serve(func(c net.Conn) { <-e.Context().Done() }))
			c, err := stalled.send(newWaiter(), "?")
			require.NoError(e, err)
			done := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := stalled.wait(c, far(), done); !errors.Is(err, transport.ErrCanceled) {
					e.Errorf("wait: %v", err)
				}
			})
			l := e.dial(e.serve(echoLines))
			for i := range 200 {
				l.echo(newWaiter(), fmt.Sprint("request ", i))
			}
			close(done)
			wg.Wait()
		},
	},
}

func (c *call) finished(l *link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.over
}

// multi sends line on all links at once and waits until all have answered.
func (e *env) multi(w *transport.Waiter, links []*link, line string) bool {
	calls := make([]*call, len(links))
	on := make([]transport.Conn, len(links))
	for i, l := range links {
		var err error
		if calls[i], err = l.send(w, line); err != nil {
			e.Errorf("send: %v", err)
			return false
		}
		on[i] = l.conn
	}
	for i := 0; i < len(calls); {
		if calls[i].finished(links[i]) {
			if string(calls[i].reply) != line {
				e.Errorf("reply %q to %q", calls[i].reply, line)
				return false
			}
			i++
			continue
		}
		if err := e.engine.Wait(w, on, far(), nil); err != nil {
			e.Errorf("wait: %v", err)
			return false
		}
	}
	w.Take() // the last reply may have come while we looked
	return true
}
