package transporttest

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

var lendingCases = []testCase{
	{
		name:  "Lent",
		means: "a body that is lent and not copied arrives damaged, out of place, or stays lent when it has been answered",
		run: func(e *env) {
			addr := e.serve(echoLines)
			links := []*link{e.dial(addr), e.dial(addr)}
			e.crowd(12, func(_ int, rng *rand.Rand, w *transport.Waiter) {
				for range 40 {
					l := links[rng.IntN(2)]
					size := 1 + rng.IntN(2000)
					if rng.IntN(10) == 0 {
						size = rng.IntN(60 << 10)
					}
					body := pattern(60 << 10)[:size]
					var loan transport.Loan
					c, err := l.lend(w, "head ", body, &loan)
					if err != nil {
						l.env.Errorf("send: %v", err)
						return
					}
					got, err := l.wait(c, far(), nil)
					if err != nil || got != "head "+string(body) {
						l.env.Errorf("%d bytes came back as %d, %v", len(body), len(got), err)
						return
					}
					l.reclaim(&loan, w)
					clear(body)
				}
			})
		},
	},
	{
		name:  "LentAnswered",
		means: "a lender that drives is not told when a body has been sent whose reply came first",
		run: func(e *env) {
			l := e.dial(e.serve(echoSum))
			body := pattern(3 << 20)
			want := sum(append([]byte("head "), body...))
			w := newWaiter()
			for range 20 {
				var loan transport.Loan
				c, err := l.lend(w, "head ", body, &loan)
				require.NoError(e, err)
				got, err := l.wait(c, far(), nil)
				require.NoError(e, err)
				require.Equal(e, want, got)
				l.reclaim(&loan, w)
			}
		},
	},
	{
		name:  "LentAnsweredEarly",
		means: "a lender that drives is not told of the end of a loan that outlived the reply",
		run: func(e *env) {
			l := e.dial(e.serve(func(c net.Conn) {
				small(c)
				r := bufio.NewReaderSize(c, 1<<20)
				for {
					if _, err := r.Discard(len("head ")); err != nil {
						return
					}
					if _, err := io.WriteString(c, "early\n"); err != nil {
						return
					}
					if _, err := r.ReadBytes('\n'); err != nil {
						return
					}
				}
			}))
			body := pattern(3 << 20)
			w := newWaiter()
			for range 50 { // chance decides whether the loan ends before its lender drives
				var loan transport.Loan
				c, err := l.lend(w, "head ", body, &loan)
				require.NoError(e, err)
				got, err := l.wait(c, far(), nil)
				require.NoError(e, err)
				require.Equal(e, "early", got)
				l.reclaim(&loan, w)
			}
		},
	},
	{
		name:  "LentReclaimed",
		means: "a caller can't get lent memory back from a server that does not read, or what it writes there then is sent",
		run: func(e *env) {
			const size = 15 << 20 // more than sockets take, and less than is too much
			read := make(chan struct{})
			l := e.dial(e.serve(func(c net.Conn) {
				small(c)
				<-read
				echoSum(c)
			}))
			lends := e.lends(l)
			body := pattern(size)
			want := sum(append([]byte("head "), body...))
			w := newWaiter()
			var loan transport.Loan
			c, err := l.lend(w, "head ", body, &loan)
			require.NoError(e, err)
			for range 3 {
				require.ErrorIs(e, e.engine.Wait(w, l.on, soon(), nil), transport.ErrTimeout)
			}
			require.Equal(e, lends, !loan.Over(), "sockets do not hold that much")
			l.reclaim(&loan, newWaiter())
			clear(body)
			close(read)
			got, err := l.wait(c, far(), nil)
			require.NoError(e, err)
			require.Equal(e, want, got)
		},
	},
	{
		name:  "LentRetracted",
		means: "a request with a lent body can't be taken back, or takes others with it, or stays lent",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			w := newWaiter()
			first, err := l.send(newWaiter(), "first")
			require.NoError(e, err)
			var loan transport.Loan
			_, err = l.conn.Send([]byte("head "), []byte("body"), []byte("\n"), &loan)
			require.NoError(e, err)
			last, err := l.send(w, "last")
			require.NoError(e, err)
			require.True(e, l.conn.Retract(10, 5))
			require.True(e, loan.Over())
			got, err := l.wait(last, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "last", got)
			got, err = l.wait(first, far(), nil)
			require.NoError(e, err)
			require.Equal(e, "first", got)
		},
	},
	{
		name:  "LentClosed",
		means: "memory stays lent, or its lender waits for ever, when the connection is closed under it",
		run: func(e *env) {
			l := e.dial(e.serve(func(c net.Conn) {
				small(c)
				<-e.Context().Done()
			}))
			w := newWaiter()
			var loan transport.Loan
			c, err := l.lend(w, "head ", pattern(20<<20), &loan)
			require.NoError(e, err)
			require.ErrorIs(e, e.engine.Wait(w, l.on, soon(), nil), transport.ErrTimeout)
			time.AfterFunc(10*time.Millisecond, func() { _ = l.conn.Close() })
			_, err = l.wait(c, far(), nil)
			require.ErrorIs(e, err, transport.ErrClosed)
			l.reclaim(&loan, w)
		},
	},
}

// lend is send with a body that is not copied.
func (l *link) lend(w *transport.Waiter, head string, body []byte, loan *transport.Loan) (*call, error) {
	c := &call{w: w}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.conn.Send([]byte(head), body, []byte{'\n'}, loan); err != nil {
		return nil, err
	}
	l.queue = append(l.queue, c)
	return c, nil
}

// reclaim waits for the end of a loan.
func (l *link) reclaim(loan *transport.Loan, w *transport.Waiter) {
	for !l.conn.Reclaim(loan, w) {
		if err := l.env.engine.Wait(w, l.on, far(), nil); err != nil && !loan.Over() {
			l.env.Errorf("waiting for the end of a loan: %v", err)
			return
		}
	}
	w.Take()
	if !loan.Over() {
		l.env.Errorf("Reclaim has returned true, and the loan is not over")
	}
}

// lends reports whether l refers to lent memory at all.
func (e *env) lends(l *link) bool {
	var loan transport.Loan
	if _, err := l.conn.Send(nil, []byte("x"), nil, &loan); err != nil {
		e.Errorf("send: %v", err)
	}
	lends := !loan.Over()
	if !l.conn.Retract(1, 0) {
		e.Errorf("what was queued a moment ago can't be taken back")
	}
	return lends
}

// echoSum answers each line with its sum.
func echoSum(c net.Conn) {
	r := bufio.NewReaderSize(c, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := io.WriteString(c, sum(bytes.TrimSuffix(line, []byte{'\n'}))+"\n"); err != nil {
			return
		}
	}
}

func sum(b []byte) string { return fmt.Sprintf("%d bytes, %08x", len(b), crc32.ChecksumIEEE(b)) }
