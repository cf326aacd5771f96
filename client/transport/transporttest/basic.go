package transporttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var basicCases = []testCase{
	{
		name:  "LoneRequest",
		means: "nothing works: a request doesn't reach the server, or its reply doesn't reach the handler",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			w := newWaiter()
			for i := range 300 {
				if !l.echo(w, fmt.Sprint("request ", i)) {
					return
				}
			}
		},
	},
	{
		name:  "ManyCallers",
		means: "with several callers on a connection bytes are lost, doubled or mixed up, or a caller isn't woken",
		run: func(e *env) {
			addr := e.serve(echoLines)
			links := []*link{e.dial(addr), e.dial(addr), e.dial(addr)}
			e.crowd(64, func(n int, rng *rand.Rand, w *transport.Waiter) {
				pad := strings.Repeat(string(rune('a'+n%26)), 4<<10)
				for i := range 100 {
					l := links[rng.IntN(len(links))]
					if !l.echo(w, fmt.Sprint(n, " ", i, " ", pad[:rng.IntN(1+rng.IntN(len(pad)))])) {
						return
					}
				}
			})
		},
	},
	{
		name:  "Pipelining",
		means: "requests of one caller are reordered, or replies to requests that nobody waits for yet are lost",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			calls := make([]*call, 500)
			for i := range calls {
				var err error
				calls[i], err = l.send(newWaiter(), fmt.Sprint("request ", i))
				require.NoError(e, err)
			}
			for i := len(calls) - 1; i >= 0; i-- {
				got, err := l.wait(calls[i], far(), nil)
				require.NoError(e, err)
				require.Equal(e, fmt.Sprint("request ", i), got)
			}
		},
	},
	{
		name:  "Contiguous",
		means: "the three parts of a Send are separated by another's, or are read after it has returned",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			e.crowd(32, func(n int, rng *rand.Rand, w *transport.Waiter) {
				for i := range 100 {
					parts := [3][]byte{}
					want := ""
					for p := range parts {
						s := strings.Repeat(fmt.Sprint(n, p, i), rng.IntN(20))
						want += s
						parts[p] = []byte(s)
					}
					parts[2] = append(parts[2], '\n')
					c := &call{w: w}
					l.mu.Lock()
					_, err := l.conn.Send(parts[0], parts[1], parts[2], nil)
					l.queue = append(l.queue, c)
					l.mu.Unlock()
					require.NoError(e, err)
					for _, p := range parts {
						clear(p)
					}
					if got, err := l.wait(c, far(), nil); err != nil || got != want {
						e.Errorf("got %q, %v, want %q", got, err, want)
						return
					}
				}
			})
		},
	},
	{
		name:  "Queued",
		means: "Send's count of unsent bytes is wrong, so that the client sees stalls where there are none, or no stalls",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			for round := range 3 {
				c1, n1 := l.sendCounted(newWaiter(), "12345678")
				c2, n2 := l.sendCounted(newWaiter(), "1234")
				// A reply can be here before the engine has seen that its request
				// was taken: the count may lag behind, by no more than was sent.
				lag := 0
				if round > 0 {
					lag = 14
				}
				if n1 < 9 || n1 > 9+lag || n2 < 14 || n2 > 14+lag {
					e.Errorf("round %d: queued %d, then %d bytes, want 9 and 14", round, n1, n2)
				}
				for _, c := range []*call{c1, c2} {
					_, err := l.wait(c, far(), nil)
					require.NoError(e, err)
				}
			}
		},
	},
	{
		name:  "SplitReplies",
		means: "a reply that arrives in two pieces is lost or delivered wrongly, for some place of the cut",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			p := <-accepted
			const replies = "first reply\nsecond\n\nlast one\n"
			for cut := range len(replies) + 1 {
				calls := []*call{}
				for range 4 {
					c, err := l.send(newWaiter(), "?")
					require.NoError(e, err)
					calls = append(calls, c)
				}
				before := l.bytes.Load()
				var wg sync.WaitGroup
				wg.Go(func() {
					for range 4 {
						p.heard("?")
					}
					p.say(replies[:cut])
					l.awaitBytes(before + int64(cut))
					p.say(replies[cut:])
				})
				for i, want := range []string{"first reply", "second", "", "last one"} {
					got, err := l.wait(calls[i], far(), nil)
					require.NoError(e, err)
					require.Equal(e, want, got, "cut after %d bytes", cut)
				}
				wg.Wait()
			}
		},
	},
	{
		name:  "ByteByByte",
		means: "the engine relies on how a server cuts its writes",
		run: func(e *env) {
			l := e.dial(e.serve(func(c net.Conn) {
				one := make([]byte, 1)
				for {
					if _, err := c.Read(one); err != nil {
						return
					}
					if _, err := c.Write(one); err != nil {
						return
					}
				}
			}))
			w := newWaiter()
			for i := range 20 {
				if !l.echo(w, fmt.Sprint("request number ", i)) {
					return
				}
			}
		},
	},
}

// crowd runs n callers and waits for them. Each has a waiter and a source of
// random numbers, the same ones in every run.
func (e *env) crowd(n int, caller func(i int, rng *rand.Rand, w *transport.Waiter)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { caller(i, rand.New(rand.NewPCG(1, uint64(i))), newWaiter()) })
	}
	wg.Wait()
}

// sendCounted is send, and the engine's count of unsent bytes.
func (l *link) sendCounted(w *transport.Waiter, line string) (*call, int) {
	c := &call{w: w}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.conn.Send([]byte(line), []byte{'\n'}, nil, nil)
	require.NoError(l.env, err)
	l.queue = append(l.queue, c)
	return c, n
}
