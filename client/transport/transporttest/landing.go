package transporttest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var landingCases = []testCase{
	{
		name:  "Landing",
		means: "bytes that shall land in the handler's memory are lost, doubled or misplaced, or others are overwritten",
		run: func(e *env) {
			want := pattern(12 << 20)
			g := &gatherer{want: len(want), w: newWaiter(), sizes: []int{1, 70000, 0, 3, 200000, 5 << 20, 0, 17, 4096}}
			l := e.dialWith(e.serve(sender(want)), g.receive)
			g.join(l)
			l.begin(g.w)
			require.True(e, bytes.Equal(want, g.got))
		},
	},
	{
		name:  "LandingDiverted",
		means: "a caller can't get its memory back while a value lands in it, or it is written to after that",
		run: func(e *env) {
			const size = 300 << 10
			want := pattern(size)
			rest := make(chan struct{})
			w := newWaiter()
			g := &gatherer{want: size, w: w, sizes: []int{size}}
			l := e.dialWith(e.serve(halves(want, rest)), g.receive)
			g.join(l)
			_, err := l.conn.Send([]byte("x"), nil, nil, nil)
			require.NoError(e, err)
			for !g.has(size / 4) { // by now it lands
				_ = e.engine.Wait(w, l.on, soon(), nil)
			}
			mem := g.stop()
			if mem != nil { // it may have come in windows so far
				l.conn.Divert()
				require.NoError(e, e.engine.Wait(w, l.on, far(), nil))
				clear(mem)
			}
			close(rest)
			require.NoError(e, e.engine.Wait(w, l.on, far(), nil))
			require.True(e, bytes.Equal(want, g.got))
			require.Equal(e, -1, bytes.IndexFunc(mem, func(r rune) bool { return r != 0 }), "written to after the end")
		},
	},
	{
		name:  "LandingDivertedBeside",
		means: "a caller can't get its memory back while another drives",
		run: func(e *env) {
			const size = 300 << 10
			want := pattern(size)
			rest := make(chan struct{})
			g := &gatherer{want: size, w: newWaiter(), sizes: []int{size}}
			l := e.dialWith(e.serve(halves(want, rest)), g.receive)
			g.join(l)
			_, err := l.conn.Send([]byte("x"), nil, nil, nil)
			require.NoError(e, err)
			other := newWaiter()
			drives := make(chan error, 1)
			go func() { drives <- e.engine.Wait(other, l.on, far(), nil) }()
			for !g.has(size / 4) {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(5 * time.Millisecond) // until it waits for what does not come
			if g.stop() != nil {
				l.conn.Divert()
				require.NoError(e, e.engine.Wait(g.w, l.on, far(), nil))
			}
			close(rest)
			require.NoError(e, e.engine.Wait(g.w, l.on, far(), nil))
			require.True(e, bytes.Equal(want, g.got))
			e.engine.Wake(other)
			require.NoError(e, <-drives)
		},
	},
	{
		name:  "LandingDivertedOften",
		means: "a Divert that meets data loses bytes, or hangs, or ends another landing for good",
		run: func(e *env) {
			want := pattern(4 << 20)
			g := &gatherer{want: len(want), w: newWaiter(), sizes: []int{100, 30000, 90000, 0, 1 << 20}}
			l := e.dialWith(e.serve(func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, 1))
				r := rand.New(rand.NewPCG(1, 2))
				for rest := want; len(rest) > 0; {
					n := min(1+r.IntN(50000), len(rest))
					if _, err := c.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
				_, _ = io.Copy(io.Discard, c)
			}), g.receive)
			g.join(l)
			over := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(50 * time.Microsecond):
						l.conn.Divert()
					}
				}
			})
			l.begin(g.w)
			close(over)
			wg.Wait()
			require.True(e, bytes.Equal(want, g.got))
		},
	},
	{
		name:  "LandingClosed",
		means: "Close does not end a landing, or the kernel goes on to write to the handler's memory",
		run: func(e *env) {
			w := newWaiter()
			g := &gatherer{want: 1 << 20, w: w, sizes: []int{1 << 20}}
			l := e.dialWith(e.serve(func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, 1))
				_, _ = c.Write(make([]byte, 100<<10))
				_, _ = io.Copy(io.Discard, c)
			}), g.receive)
			g.join(l)
			_, err := l.conn.Send([]byte("x"), nil, nil, nil)
			require.NoError(e, err)
			for !g.has(50 << 10) {
				_ = e.engine.Wait(w, l.on, soon(), nil)
			}
			require.NoError(e, l.conn.Close())
			require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
		},
	},
	{
		name:  "LandingEnds",
		means: "bytes that came before the server's end are lost, or the end is not noticed",
		run: func(e *env) {
			want := pattern(100 << 10)
			w := newWaiter()
			g := &gatherer{want: 1 << 20, w: w, sizes: []int{1 << 20}}
			l := e.dialWith(e.serve(func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, 1))
				_, _ = c.Write(want)
			}), g.receive)
			g.join(l)
			l.queue = append(l.queue, &call{w: w})
			l.begin(w)
			require.ErrorIs(e, l.awaitClosed(), transport.ErrEOF)
			require.True(e, bytes.Equal(want, g.got))
		},
	},
}

// halves returns a script that writes the first half of b when it has read one
// byte, and the second when rest is closed.
func halves(b []byte, rest <-chan struct{}) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.ReadFull(c, make([]byte, 1))
		_, _ = c.Write(b[:len(b)/2])
		<-rest
		_, _ = c.Write(b[len(b)/2:])
		_, _ = io.Copy(io.Discard, c)
	}
}

// A gatherer receives want bytes, after each window some of them by landing.
type gatherer struct {
	want  int
	w     *transport.Waiter // signalled when all have come, or a landing was ended
	sizes []int             // of the landings, in turn; 0 is none
	link  *link

	mu       sync.Mutex
	got      []byte
	mem      []byte // where a landing goes, with guards on both sides; nil if none
	turn     int
	stopping bool
}

// guard is what surrounds memory that is lent for a landing.
var guard = bytes.Repeat([]byte{0x5a}, 64)

func (g *gatherer) join(l *link) {
	g.link = l
	l.landed = g.landed
}

func (g *gatherer) receive(window []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got = append(g.got, window...)
	g.next()
	return len(window), nil
}

// next begins the next landing, or ends the whole. mu is held.
func (g *gatherer) next() {
	g.mem, g.link.landing = nil, nil
	if len(g.got) == g.want {
		g.w.Signal()
		return
	}
	size := min(g.sizes[g.turn%len(g.sizes)], g.want-len(g.got))
	g.turn++
	if size > 0 && !g.stopping {
		g.mem = make([]byte, size+2*len(guard))
		copy(g.mem, guard)
		copy(g.mem[len(guard)+size:], guard)
		g.link.landing = g.mem[len(guard) : len(guard)+size]
	}
}

func (g *gatherer) landed(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	end := len(g.mem) - len(guard) - len(g.link.landing)
	g.got = append(g.got, g.mem[end-n:end]...)
	if !bytes.HasPrefix(g.mem, guard) || !bytes.HasSuffix(g.mem, guard) {
		g.link.env.Errorf("bytes have landed outside of the handler's memory")
	}
	if g.stopping {
		g.mem, g.link.landing = nil, nil
		g.w.Signal()
		return
	}
	if len(g.link.landing) == 0 {
		g.next()
	}
}

// has reports whether n bytes have come, counting those only that the gatherer was
// told of, or whether a landing has begun.
func (g *gatherer) has(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.got) >= n || g.mem != nil
}

// stop has the rest come in windows, and returns the memory of the landing that
// goes on, if one does.
func (g *gatherer) stop() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopping = true
	return g.mem
}
