package transporttest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var flowCases = []testCase{
	{
		name: "BothDirections",
		means: "a write that the server blocks stops the reading that would unblock the server: a deadlock;" +
			" or a write that went out in pieces was corrupted",
		run: func(e *env) {
			// More than all buffers on the way hold, so the server must block.
			const total, chunk = 48 << 20, 1 << 20
			data := pattern(chunk)
			var got atomic.Int64
			w := newWaiter()
			l := e.dialWith(e.serve(func(c net.Conn) {
				small(c)
				_, _ = io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{c}, make([]byte, 32<<10))
			}), nil)
			l.receive = func(window []byte) (int, error) {
				for rest := window; len(rest) > 0; {
					at := int(got.Load() % chunk)
					n := min(len(rest), chunk-at)
					if !bytes.Equal(rest[:n], data[at:at+n]) {
						e.Errorf("wrong bytes near offset %d", got.Load())
						return len(window), io.ErrNoProgress
					}
					got.Add(int64(n))
					rest = rest[n:]
				}
				w.Signal() // at every window, so that more can be sent
				return len(window), nil
			}
			for sent := 0; got.Load() < total; {
				for sent < total {
					_, err := l.conn.Send(data[:100], data[100:chunk-1], data[chunk-1:], nil)
					if errors.Is(err, transport.ErrBacklog) {
						break
					}
					require.NoError(e, err)
					sent += chunk
				}
				require.NoError(e, e.engine.Wait(w, l.on, far(), nil))
			}
			require.EqualValues(e, total, got.Load())
		},
	},
	{
		name:  "Backlog",
		means: "a server that reads nothing makes the client's memory grow without bound, or its end isn't seen any more",
		run: func(e *env) {
			l := e.dial(e.serve(func(c net.Conn) {
				small(c)
				_, _ = c.Read(make([]byte, 1))
				<-e.Context().Done()
			}))
			w := newWaiter()
			line := pattern(1 << 20)
			for n := 0; ; n++ {
				c := &call{w: w}
				queued, err := l.conn.Send(line, nil, nil, nil)
				if err != nil {
					require.ErrorIs(e, err, transport.ErrBacklog)
					require.Greater(e, queued, transport.MaxBacklog, "refused too early")
					break
				}
				require.Less(e, n, 64, "%d bytes are queued and Send goes on", queued)
				if n == 0 {
					l.queue = append(l.queue, c)
				}
				_, err = l.wait(c, soon(), nil)
				require.ErrorIs(e, err, transport.ErrTimeout)
			}
			require.NoError(e, l.conn.Close())
			require.ErrorIs(e, l.awaitClosed(), transport.ErrClosed)
		},
	},
	{
		name:  "Retract",
		means: "a request that the client took back is sent all the same, or takes others with it",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			send := func(line string) {
				_, err := l.conn.Send([]byte(line), nil, nil, nil)
				require.NoError(e, err)
			}
			w := newWaiter()
			send("all there is\n")
			require.True(e, l.conn.Retract(13, 0))
			first, err := l.send(newWaiter(), "first")
			require.NoError(e, err)
			send("middle\n")
			last, err := l.send(w, "last")
			require.NoError(e, err)
			require.False(e, l.conn.Retract(13, 6), "more than is queued was taken back")
			require.True(e, l.conn.Retract(7, 5))
			got, err := l.wait(last, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "last", got)
			got, err = l.wait(first, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "first", got)
			require.True(e, l.echo(w, "again"))
		},
	},
	{
		name:  "RetractTooLate",
		means: "a request is taken back although the kernel has it: the client would match replies wrongly from then on",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			p := <-accepted
			sent, err := l.send(newWaiter(), "sent")
			require.NoError(e, err)
			_, err = l.wait(sent, soon(), nil)
			require.ErrorIs(e, err, transport.ErrTimeout)
			p.heard("sent")
			require.False(e, l.conn.Retract(5, 0))
			next, err := l.send(newWaiter(), "next")
			require.NoError(e, err)
			require.False(e, l.conn.Retract(5, 5))
			require.False(e, l.conn.Retract(6, 0), "a byte of it is the kernel's")
			p.say("reply to sent\nreply to next\n")
			got, err := l.wait(next, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "reply to next", got)
			p.heard("next")
		},
	},
}
