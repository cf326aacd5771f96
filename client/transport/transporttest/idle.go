package transporttest

import (
	"bytes"
	"fmt"
	"io"
	"net"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var idleCases = []testCase{
	{
		name:  "EndWhileIdle",
		means: "a server's FIN is not noticed until the next request, which is then lost",
		run: func(e *env) {
			addr, accepted := e.puppets()
			for _, use := range []int{0, 1, 100} {
				l := e.dial(addr)
				p := <-accepted
				for range use {
					inSync(e, l, p)
				}
				require.NoError(e, p.Close())
				require.ErrorIs(e, l.awaitClosed(), transport.ErrEOF)
				_, err := l.conn.Send([]byte("too late\n"), nil, nil, nil)
				require.Error(e, err)
			}
		},
	},
	{
		name:  "Ended",
		means: "a connection that works is said to have ended, or one that has ended to work",
		run: func(e *env) {
			addr, accepted := e.puppets()
			for _, use := range []int{0, 3} {
				l := e.dial(addr)
				p := <-accepted
				require.False(e, l.conn.Ended())
				for range use {
					inSync(e, l, p)
					require.False(e, l.conn.Ended())
				}
				require.NoError(e, p.Close())
				require.ErrorIs(e, l.awaitClosed(), transport.ErrEOF)
				require.True(e, l.conn.Ended())

				l = e.dial(addr)
				<-accepted
				require.NoError(e, l.conn.Close())
				require.True(e, l.conn.Ended())
			}
		},
	},
	{
		name:  "EndWithRequests",
		means: "callers whose connection ends go on waiting, or don't get the replies that came before the end",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			p := <-accepted
			c1, err := l.send(newWaiter(), "answered")
			require.NoError(e, err)
			c2, err := l.send(newWaiter(), "not answered")
			require.NoError(e, err)
			go func() {
				p.heard("answered")
				p.heard("not answered")
				p.say("reply\nhalf a re")
				_ = p.Close()
			}()
			_, err = l.wait(c2, far(), nil)
			require.ErrorIs(e, err, transport.ErrEOF)
			got, err := l.wait(c1, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "reply", got)
			require.ErrorIs(e, l.awaitClosed(), transport.ErrEOF)
		},
	},
	{
		name:  "Reset",
		means: "a reset connection isn't noticed, or looks like an end in good order",
		only:  "tcp",
		run: func(e *env) {
			addr, accepted := e.puppets()
			for _, use := range []int{0, 1} {
				l := e.dial(addr)
				p := <-accepted
				for range use {
					inSync(e, l, p)
				}
				require.NoError(e, p.Conn.(*net.TCPConn).SetLinger(0))
				require.NoError(e, p.Close())
				err := l.awaitClosed()
				require.NotErrorIs(e, err, transport.ErrEOF)
				require.NotErrorIs(e, err, transport.ErrClosed)
			}
		},
	},
	{
		name:  "LastWords",
		means: "what a server says before it closes is lost when a later request can't be written any more",
		run: func(e *env) {
			l := e.dial(e.serve(func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, 2))
				_, _ = io.WriteString(c, "goodbye\n")
			}))
			c, err := l.send(newWaiter(), "1")
			require.NoError(e, err)
			got, err := l.wait(c, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "goodbye", got)
			// Whether these reach a socket that still takes them is chance.
			for {
				c, err := l.send(newWaiter(), "more")
				if err != nil {
					break
				}
				if _, err = l.wait(c, far(), nil); err != nil {
					break
				}
			}
			require.Error(e, l.awaitClosed())
		},
	},
	{
		name:  "LateReply",
		means: "a reply whose caller has given up is not read: it blocks the server and, through it, everybody else",
		run: func(e *env) {
			const size = 8 << 20 // more than the buffers on the way hold
			written := make(chan error, 1)
			release := make(chan struct{})
			l := e.dial(e.serve(func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, len("ask\n")))
				<-release
				var err error
				for range size >> 15 {
					if _, err = c.Write(append(bytes.Repeat([]byte("x"), 1<<15-1), '\n')); err != nil {
						break
					}
				}
				written <- err
				echoLines(c)
			}))
			w := newWaiter()
			c, err := l.send(w, "ask")
			require.NoError(e, err)
			_, err = l.wait(c, soon(), nil)
			require.ErrorIs(e, err, transport.ErrTimeout)
			l.mu.Lock()
			for range size>>15 - 1 {
				l.queue = append(l.queue, &call{}) // the tombstones that it answers
			}
			l.mu.Unlock()
			close(release)
			require.NoError(e, <-written)
			for i := range 3 {
				require.True(e, l.echo(w, fmt.Sprint("in sync ", i)))
			}
		},
	},
}
