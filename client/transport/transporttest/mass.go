package transporttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var massCases = []testCase{
	{
		name:  "ManyConnections",
		means: "the engine can't keep many connections, or leaks a file descriptor of each",
		run: func(e *env) {
			n := e.opts.Conns
			switch {
			case n < 0:
				e.Skip("left out by Options.Conns")
			case n == 0:
				n = 2000
			}
			addr := e.serve(echoLines)
			e.dial(addr).echo(newWaiter(), "warm") // opens what is opened once
			before := openFiles()
			links := make([]*link, n)
			for i := range links {
				links[i] = e.dial(addr)
			}
			e.crowd(16, func(c int, _ *rand.Rand, w *transport.Waiter) {
				for i := c; i < n; i += 16 {
					for range 2 {
						links[i].echo(w, fmt.Sprint("connection ", i))
					}
				}
			})
			for _, l := range links {
				require.NoError(e, l.conn.Close())
			}
			for _, l := range links {
				require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
			}
			// The server's side sees its end a little later.
			for before >= 0 && openFiles() > before {
				time.Sleep(time.Millisecond)
			}
		},
	},
	{
		name: "ThreadExits",
		means: "the end of a thread that drove, as a locked goroutine's is when it returns, breaks other callers'" +
			" connections",
		run: func(e *env) {
			addr := e.serve(echoLines)
			l := e.dial(addr)
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for i := range 4 {
				wg.Go(func() {
					w := newWaiter()
					for n := 0; ; n++ {
						select {
						case <-stop:
							return
						default:
						}
						if !l.echo(w, fmt.Sprint(i, " ", n)) {
							return
						}
					}
				})
			}
			for i := range 50 {
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					runtime.LockOSThread() // never unlocked: the thread ends
					for n := range 3 {
						l.echo(newWaiter(), fmt.Sprint("thread ", i, " ", n))
					}
				}()
				<-gone
			}
			close(stop)
			wg.Wait()
			// And with nobody else about: what the thread left armed is armed anew.
			for i := range 10 {
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					runtime.LockOSThread()
					l.echo(newWaiter(), "alone")
				}()
				<-gone
				l.echo(newWaiter(), fmt.Sprint("after thread ", i))
			}
		},
	},
	{
		name:  "ZeroAlloc",
		means: "a request and its reply allocate memory, in the engine or in the seam",
		run: func(e *env) {
			if !e.opts.ZeroAlloc {
				e.Skip("not asked for by Options.ZeroAlloc")
			}
			// No link: its checks allocate.
			w := newWaiter()
			conn, err := e.engine.Dial(context.Background(), e.network, e.serve(echoLines), bare{w})
			require.NoError(e, err)
			on := []transport.Conn{conn}
			req := []byte("request\n")
			done := make(chan struct{})
			n := testing.AllocsPerRun(2000, func() {
				if _, err := conn.Send(req[:3], req[3:], nil, nil); err != nil {
					e.Fatal(err)
				}
				if err := e.engine.Wait(w, on, time.Now().Add(time.Minute), done); err != nil {
					e.Fatal(err)
				}
			})
			require.Zero(e, n)
		},
	},
}

// A bare Handler signals whatever comes.
type bare struct{ w *transport.Waiter }

func (b bare) Received(window []byte) (int, []byte, error) {
	b.w.Signal()
	return len(window), nil, nil
}

func (b bare) Landed(int) ([]byte, error) { return nil, nil }

func (b bare) Closed(error) {}

// openFiles counts this process's file descriptors, or returns -1.
func openFiles() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(d)
}
