package transporttest

import (
	"bytes"
	"errors"
	"io"
	"net"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var windowCases = []testCase{
	{
		name:  "PartialUse",
		means: "bytes that a handler leaves unused are not given again in front of the next ones",
		run: func(e *env) {
			// The handler leaves as much as it likes; env's checks see to the rest.
			const total = 300 << 10
			want := pattern(total)
			var got []byte
			sizes := []int{0, 1, 5, 1000, 0, 33000, 2}
			turn := 0
			w := newWaiter()
			l := e.dialWith(e.serve(sender(want)), func(window []byte) (int, error) {
				left := min(sizes[turn%len(sizes)], len(window)-1)
				turn++
				if len(got)+len(window) >= total {
					left = 0 // nothing will come behind it
				}
				used := len(window) - left
				got = append(got, window[:used]...)
				if len(got) == total {
					w.Signal()
				}
				return used, nil
			})
			l.begin(w)
			require.True(e, bytes.Equal(want, got))
		},
	},
	{
		name:  "WindowFilled",
		means: "a reply line of exactly the documented window's size can't be received",
		run: func(e *env) {
			want := pattern(transport.WindowSize)
			w := newWaiter()
			l := e.dialWith(e.serve(sender(want, want)), nil)
			windows := 0
			l.receive = func(window []byte) (int, error) {
				if len(window) < transport.WindowSize {
					return 0, nil
				}
				if !bytes.Equal(window, want) {
					e.Errorf("window %d is wrong", windows)
				}
				if windows++; windows == 2 {
					w.Signal()
				}
				return len(window), nil
			}
			l.begin(w)
			require.Equal(e, 2, windows)
		},
	},
	{
		name:  "WindowStuck",
		means: "a handler that can't use anything of a full window hangs its connection for ever",
		run: func(e *env) {
			w := newWaiter()
			l := e.dialWith(e.serve(sender(pattern(transport.WindowSize+1))), func([]byte) (int, error) { return 0, nil })
			l.queue = append(l.queue, &call{w: w})
			l.begin(w)
			require.ErrorIs(e, l.awaitClosed(), transport.ErrStuck)
		},
	},
	{
		name:  "HugeReply",
		means: "a reply of many windows is corrupted or stops",
		run: func(e *env) {
			want := pattern(8 << 20)
			got := make([]byte, 0, len(want))
			w := newWaiter()
			l := e.dialWith(e.serve(sender(want)), func(window []byte) (int, error) {
				got = append(got, window...)
				if len(got) == len(want) {
					w.Signal()
				}
				return len(window), nil
			})
			l.begin(w)
			require.True(e, bytes.Equal(want, got))
		},
	},
	{
		name:  "HandlerError",
		means: "an error that a handler returns does not close the connection, or is replaced by another",
		run: func(e *env) {
			bad := errors.New("bad reply")
			w := newWaiter()
			l := e.dialWith(e.serve(sender([]byte("x"))), func([]byte) (int, error) { return 0, bad })
			l.queue = append(l.queue, &call{w: w})
			l.begin(w)
			require.ErrorIs(e, l.awaitClosed(), bad)
			_, err := l.conn.Send([]byte("x"), nil, nil, nil)
			require.Error(e, err)
		},
	},
}

// pattern makes n bytes without a short period, of which none is a newline.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x>>24) | 0x80
	}
	return b
}

// sender returns a script that writes its parts when it has read one byte, and
// then waits for the end.
func sender(parts ...[]byte) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return
		}
		for _, p := range parts {
			if _, err := c.Write(p); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, c)
	}
}

// begin sends one byte and waits for w.
func (l *link) begin(w *transport.Waiter) {
	_, err := l.conn.Send([]byte("x"), nil, nil, nil)
	require.NoError(l.env, err)
	require.NoError(l.env, l.env.engine.Wait(w, l.on, far(), nil))
}
