package fallback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/memring/memring/client/transport"
)

// Config configures an Engine. Its zero value is ready for use.
type Config struct {
	// DialContext makes connections. If nil, a [net.Dialer] does.
	//
	// What it returns is driven through the methods of net.Conn alone, unless
	// it is a *net.TCPConn or a *net.UnixConn itself. Among them are the deadlines,
	// by which reads and writes are interrupted: a connection that refuses to have any,
	// as the channels of package ssh do, is refused.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// An Engine drives connections through Go's network poller. Make it with [New].
type Engine struct {
	// conn.mu is taken before clock.mu and before mu; no lock is held while a
	// Handler runs or during a read or write.

	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	clock clock
	herd  transport.Herd // every waiter that sleeps, for the clock

	windows sync.Pool // of *[transport.WindowSize]byte, of connections that rest

	ctx  context.Context
	stop context.CancelFunc // ends dials when the engine is closed

	// live counts connections whose Closed call has not returned and the
	// goroutines that serve them. A goroutine is only added while its
	// connection is counted, so Close never waits for a number that may grow
	// from zero.
	live sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	past   transport.Counters // of connections that are gone
}

var _ transport.Engine = (*Engine)(nil)

// New makes an engine. A nil cfg means the defaults.
func New(cfg *Config) *Engine {
	e := &Engine{conns: make(map[*conn]struct{})}
	e.windows.New = func() any { return new([transport.WindowSize]byte) }
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.clock.init(&e.herd)
	if cfg != nil {
		e.dial = cfg.DialContext
	}
	if e.dial == nil {
		e.dial = new(net.Dialer).DialContext
	}
	return e
}

// Dial implements [transport.Engine]. A failed dial returns the dialer's error.
func (e *Engine) Dial(ctx context.Context, network, addr string, h transport.Handler) (transport.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	nc, err := e.dial(ctx, network, addr)
	if err != nil {
		if e.ctx.Err() != nil {
			return nil, transport.ErrClosed
		}
		return nil, err
	}
	return e.Adopt(nc, h)
}

// Adopt runs a connection that was made elsewhere. The engine owns nc from
// then on, also if Adopt fails.
func (e *Engine) Adopt(nc net.Conn, h transport.Handler) (transport.Conn, error) {
	if nc == nil {
		return nil, errors.New("fallback: the dialer returned no connection and no error")
	}
	if err := nc.SetDeadline(time.Time{}); err != nil {
		_ = nc.Close()
		return nil, fmt.Errorf("fallback: the connection takes no deadline, without which nothing could end a read: %w", err)
	}
	c := newConn(e, nc, h)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		_ = nc.Close()
		return nil, transport.ErrClosed
	}
	e.live.Add(1)
	e.conns[c] = struct{}{}
	e.mu.Unlock()
	c.mu.Lock()
	c.watchLocked(false) // until its first use it is idle
	c.mu.Unlock()
	return c, nil
}

// forget drops a connection after its Closed call.
func (e *Engine) forget(c *conn) {
	e.mu.Lock()
	delete(e.conns, c)
	c.addTo(&e.past)
	e.mu.Unlock()
	e.live.Done()
}

// Close implements [transport.Engine]. It must not be called from a Handler.
func (e *Engine) Close() error {
	e.stop()
	e.mu.Lock()
	e.closed = true
	conns := make([]*conn, 0, len(e.conns))
	for c := range e.conns {
		conns = append(conns, c)
	}
	e.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
	e.live.Wait()
	return nil
}

// Counters returns the engine's totals. Enters counts reads and writes that
// the engine asked of its connections.
func (e *Engine) Counters() transport.Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.past
	n.Conns = int64(len(e.conns))
	for c := range e.conns {
		c.addTo(&n)
	}
	return n
}
