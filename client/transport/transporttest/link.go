package transporttest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// An env is what one run of a case works with.
type env struct {
	*testing.T
	network string
	opts    Options
	engine  transport.Engine

	mu    sync.Mutex
	links []*link
}

// far is a deadline that no case lives to see.
func far() time.Time { return time.Now().Add(time.Hour) }

// soon is a deadline that passes during the case.
func soon() time.Time { return time.Now().Add(20 * time.Millisecond) }

// A link is a connection with a small client on it: requests and replies are
// lines, matched by order. It checks every call that the engine makes.
type link struct {
	env  *env
	conn transport.Conn
	on   []transport.Conn

	mu    sync.Mutex // orders Send with the queue
	queue []*call
	end   error

	// receive, if set before the first byte, takes the place of the line
	// client's Received.
	receive func(window []byte) (used int, err error)

	// landing is where the next bytes shall land, set by receive, or by landed,
	// which is called with those that have, and the landing moved behind them.
	landing []byte
	landed  func(n int)

	inside atomic.Int32
	closes atomic.Int32
	closed chan struct{} // by Closed
	unused []byte        // a copy of what the last Received left
	bytes  atomic.Int64  // that came
	moved  chan struct{} // has a token when bytes has grown
}

// A call is one request. Who takes it off the link's queue, under its lock,
// sets reply or err and signals w; who gives up on it sets w to nil there.
type call struct {
	w     *transport.Waiter
	reply []byte
	err   error
	over  bool
}

// dial connects a line client to addr.
func (e *env) dial(addr string) *link { return e.dialWith(addr, nil) }

func (e *env) dialWith(addr string, receive func([]byte) (int, error)) *link {
	l := &link{env: e, receive: receive, closed: make(chan struct{}), moved: make(chan struct{}, 1)}
	conn, err := e.engine.Dial(context.Background(), e.network, addr, l)
	require.NoError(e, err)
	l.conn = conn
	l.on = []transport.Conn{conn}
	e.mu.Lock()
	e.links = append(e.links, l)
	e.mu.Unlock()
	return l
}

// checkClosed runs after Engine.Close: every connection must have had its last
// call by then.
func (e *env) checkClosed() {
	for _, l := range e.links {
		if n := l.closes.Load(); n != 1 {
			e.Errorf("%d calls of Closed when Engine.Close had returned, want 1", n)
		}
		if l.inside.Load() != 0 {
			e.Errorf("a Handler call runs after Engine.Close has returned")
		}
	}
}

func (l *link) enter(what string) (leave func()) {
	if l.inside.Add(1) != 1 {
		l.env.Errorf("%s overlaps another call of the Handler", what)
	}
	if l.closes.Load() != 0 {
		l.env.Errorf("%s after Closed", what)
	}
	return func() { l.inside.Add(-1) }
}

// Received implements transport.Handler.
func (l *link) Received(window []byte) (used int, into []byte, err error) {
	defer l.enter("Received")()
	if len(window) > transport.WindowSize {
		l.env.Errorf("a window of %d bytes", len(window))
	}
	if !bytes.HasPrefix(window, l.unused) || len(window) == len(l.unused) {
		l.env.Errorf("the window does not begin with the %d unused bytes, or adds none to them", len(l.unused))
	}
	l.bytes.Add(int64(len(window) - len(l.unused)))
	if l.receive != nil {
		used, err = l.receive(window)
	} else {
		used = l.lines(window)
	}
	l.unused = append(l.unused[:0], window[used:]...)
	select {
	case l.moved <- struct{}{}:
	default:
	}
	return used, l.landing, err
}

// Landed implements transport.Handler.
func (l *link) Landed(n int) (into []byte, err error) {
	defer l.enter("Landed")()
	if n < 0 || n > len(l.landing) || len(l.landing) == 0 {
		l.env.Errorf("%d bytes have landed, where %d were to", n, len(l.landing))
		return nil, errors.New("landed badly")
	}
	l.bytes.Add(int64(n))
	l.landing = l.landing[n:]
	l.landed(n)
	return l.landing, nil
}

// lines gives each whole line to the call that it answers.
func (l *link) lines(window []byte) (used int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		n := bytes.IndexByte(window[used:], '\n')
		if n < 0 {
			return used
		}
		line := window[used : used+n]
		used += n + 1
		if len(l.queue) == 0 {
			l.env.Errorf("a reply to no request: %.40q", line)
			continue
		}
		c := l.queue[0]
		l.queue = l.queue[1:]
		c.reply = append(c.reply[:0], line...)
		c.finish(nil)
	}
}

func (c *call) finish(err error) {
	c.err, c.over = err, true
	if c.w != nil {
		c.w.Signal()
	}
}

// Closed implements transport.Handler.
func (l *link) Closed(err error) {
	defer l.enter("Closed")()
	if err == nil {
		l.env.Errorf("Closed with no error")
	}
	l.closes.Add(1)
	l.mu.Lock()
	l.end = err
	for _, c := range l.queue {
		c.finish(err)
	}
	l.queue = nil
	l.mu.Unlock()
	close(l.closed)
}

// send queues a request for w, which the reply or the end will signal.
func (l *link) send(w *transport.Waiter, line string) (*call, error) {
	c := &call{w: w}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.conn.Send([]byte(line), nil, []byte{'\n'}, nil); err != nil {
		return nil, err
	}
	if l.end != nil {
		return nil, l.end
	}
	l.queue = append(l.queue, c)
	return c, nil
}

// wait waits for c. If that fails, c stays in the queue as a tombstone, unless
// its reply came at the same time.
func (l *link) wait(c *call, deadline time.Time, done <-chan struct{}) (string, error) {
	w := c.w
	err := l.env.engine.Wait(w, l.on, deadline, done)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if !c.over {
			c.w = nil
			return "", err
		}
		if !w.Take() {
			l.env.Errorf("Wait took a signal and returned %v", err)
		}
	} else if !c.over {
		l.env.Errorf("Wait returned before the signal")
		c.w = nil
		return "", errors.New("not signalled")
	}
	return string(c.reply), c.err
}

// do is one request and its reply.
func (l *link) do(w *transport.Waiter, line string) (string, error) {
	c, err := l.send(w, line)
	if err != nil {
		return "", err
	}
	return l.wait(c, far(), nil)
}

// echo checks that line comes back.
func (l *link) echo(w *transport.Waiter, line string) bool {
	got, err := l.do(w, line)
	if err != nil {
		l.env.Errorf("echo: %v", err)
		return false
	}
	if got != line {
		l.env.Errorf("reply %.60q to %.60q", got, line)
		return false
	}
	return true
}

// awaitBytes waits until n bytes have come in all. One goroutine at a time may.
func (l *link) awaitBytes(n int64) {
	for l.bytes.Load() < n {
		select {
		case <-l.moved:
		case <-l.closed:
			return
		}
	}
}

// awaitClosed returns the error of Closed.
func (l *link) awaitClosed() error {
	<-l.closed
	return l.end
}

func newWaiter() *transport.Waiter {
	w := new(transport.Waiter)
	w.Init()
	return w
}
