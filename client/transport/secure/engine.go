package secure

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/memring/memring/client/transport"
)

// Inner is what an Engine is put on top of.
type Inner interface {
	transport.Engine
	Counters() transport.Counters
}

// Engine is a [transport.Engine] whose connections speak TLS.
type Engine struct {
	inner  Inner
	config func(network, addr string) (*tls.Config, error)

	mu    sync.Mutex
	conns map[*conn]struct{} // whose handshake is done and whose Closed call is not
}

var _ transport.Engine = (*Engine)(nil)

// New puts TLS on top of inner, which is the Engine's from then on. config is called
// for each Dial, before it connects, and must not wait for long; it says how. Its
// result is not changed, and must not be by others. It needs a ServerName, unless
// InsecureSkipVerify is set.
func New(inner Inner, config func(network, addr string) (*tls.Config, error)) *Engine {
	return &Engine{inner: inner, config: config, conns: make(map[*conn]struct{})}
}

// Counters returns the inner engine's totals.
func (e *Engine) Counters() transport.Counters { return e.inner.Counters() }

// Dial implements [transport.Engine]. It returns when the handshake is done, or with
// a [*HandshakeError]. What a server says after its part of it, that it wants a
// client certificate for example, comes as the connection's end.
func (e *Engine) Dial(ctx context.Context, network, addr string, h transport.Handler) (transport.Conn, error) {
	cfg, err := e.config(network, addr)
	if err != nil {
		return nil, err
	}
	c := newConn(e, h, peer{network, addr})
	inner, err := e.inner.Dial(ctx, network, addr, c)
	if err != nil {
		return nil, err
	}
	c.on[0] = inner
	if err := c.handshake(ctx, cfg); err != nil {
		_ = inner.Close()
		return nil, err
	}
	return c, nil
}

// Wait implements [transport.Engine].
func (e *Engine) Wait(w *transport.Waiter, on []transport.Conn, deadline time.Time, done <-chan struct{}) error {
	if len(on) == 1 {
		c := on[0].(*conn)
		if c.flush() {
			e.pushOn(w, c.on[:])
		}
		return e.inner.Wait(w, c.on[:], deadline, done)
	}
	list, flushed := make([]transport.Conn, len(on)), false
	for i, x := range on {
		c := x.(*conn)
		flushed = c.flush() || flushed
		list[i] = c.on[0]
	}
	if flushed {
		e.pushOn(w, list)
	}
	return e.inner.Wait(w, list, deadline, done)
}

// pushOn has what was just handed on leave also if w has its signal already: the inner
// engine's Wait would take that and do no more. What the inner engine has had since
// Send it would have sent by then, with whatever brought the signal.
func (e *Engine) pushOn(w *transport.Waiter, on []transport.Conn) {
	if w.Signalled() {
		drain(e.inner, on)
	}
}

// Wake implements [transport.Engine].
func (e *Engine) Wake(w *transport.Waiter) { e.inner.Wake(w) }

// Close implements [transport.Engine].
func (e *Engine) Close() error {
	e.mu.Lock()
	list := make([]transport.Conn, 0, len(e.conns))
	for c := range e.conns {
		if c.takeLeave() {
			list = append(list, c.on[0])
		}
	}
	e.mu.Unlock()
	if len(list) > 0 {
		drain(e.inner, list)
	}
	return e.inner.Close()
}

// drain gives the kernel what it takes at once of all that is queued on the
// connections, and takes in what has come: a wait that is over before it begins
// does no more.
func drain(inner transport.Engine, on []transport.Conn) {
	w := new(transport.Waiter)
	w.Init()
	_ = inner.Wait(w, on, time.Now(), nil) // what was not sent is left to the next wait
}

func (e *Engine) add(c *conn) {
	e.mu.Lock()
	e.conns[c] = struct{}{}
	e.mu.Unlock()
}

func (e *Engine) forget(c *conn) {
	e.mu.Lock()
	delete(e.conns, c)
	e.mu.Unlock()
}
