package client

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/transport"
)

// newcomer is the handler of a connection that is not among the pool's yet: nobody
// can queue a request on it. It takes one line at a time, until it lets the
// connection have what comes.
type newcomer struct {
	c    *conn
	w    transport.Waiter
	open atomic.Bool // the connection has it

	mu   sync.Mutex
	asks bool // a line is due
	line []byte
	err  error // why there will be none
}

var _ transport.Handler = (*newcomer)(nil)

var (
	errUnasked  = errors.New("server speaks without being asked")
	errLongLine = errors.New("server answers with an endless line")
)

// maxGreeting bounds a line.
const maxGreeting = 2048

// Received implements [transport.Handler].
func (n *newcomer) Received(window []byte) (used int, into []byte, err error) {
	if n.open.Load() {
		return n.c.Received(window)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	end := bytes.IndexByte(window, '\n')
	switch {
	case n.open.Load(): // meanwhile
		return n.c.Received(window)
	case !n.asks:
		return 0, nil, errUnasked
	case end < 0 && len(window) < maxGreeting:
		return 0, nil, nil
	case end < 0:
		return 0, nil, errLongLine
	case end != len(window)-1:
		return 0, nil, errUnasked
	}
	n.line = bytes.Clone(bytes.TrimSuffix(window[:end], []byte("\r")))
	n.asks = false
	n.w.Signal()
	return len(window), nil, nil
}

// Landed implements [transport.Handler].
func (n *newcomer) Landed(size int) (into []byte, err error) { return n.c.Landed(size) }

// Closed implements [transport.Handler].
func (n *newcomer) Closed(err error) {
	n.mu.Lock()
	open := n.open.Load()
	n.err = err
	n.w.Signal()
	n.mu.Unlock()
	if open {
		n.c.Closed(err)
	}
}

// ask is an [askFunc].
func (n *newcomer) ask(ctx context.Context, request []byte) (string, error) {
	n.mu.Lock()
	n.asks = true
	err := n.err
	n.mu.Unlock()
	if err != nil {
		return "", err
	}
	t := n.c.t
	// An error is not the cause: that comes with Closed, which is on its way.
	_, _ = t.Send(request, nil, nil, nil)
	if s, ok := t.(transport.Scrubber); ok {
		s.Scrub() // if the memory is not kept when it has left
		defer s.Scrub()
	}
	for {
		if line, over, err := n.answer(); over {
			return line, err
		}
		err := n.c.p.eng.Wait(&n.w, []transport.Conn{t}, time.Time{}, ctx.Done())
		if errors.Is(err, transport.ErrCanceled) {
			return "", ctx.Err()
		}
		if err != nil {
			return "", err
		}
	}
}

// answer returns the line that was asked for, if it is there, or why it won't be.
func (n *newcomer) answer() (line string, over bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asks {
		return "", n.err != nil, n.err
	}
	return string(n.line), true, nil
}

// admit gives the connection what comes from now on, or says that it has ended.
func (n *newcomer) admit() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return n.err
	}
	n.open.Store(true)
	return nil
}
