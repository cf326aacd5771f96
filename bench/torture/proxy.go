package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// proxy stands between a client and a memcached and does to their connections what networks and dying
// machines do.
type proxy struct {
	ln   net.Listener
	dir  string // of the socket, if it is one
	dial func() (net.Conn, error)
	tiny bool

	weather atomic.Pointer[weather]
	wg      sync.WaitGroup

	mu     sync.Mutex
	links  map[*link]bool
	closed bool
}

// weather is what all connections go through until it changes.
type weather struct {
	over  chan struct{}                  // closed when it has changed
	delay func(*rand.Rand) time.Duration // before each piece of a reply; nil: none
	drip  time.Duration                  // replies come a byte at a time, with this pause
	halt  bool                           // nothing is taken from the client
}

// link is one connection through the proxy.
type link struct {
	client, server net.Conn
	gone           chan struct{} // closed when both are
	once           sync.Once
	hole           atomic.Bool  // what the server sends vanishes, and so does what is sent to it
	cut            atomic.Int64 // if positive: 1 more than the bytes of replies that still come
}

// newProxy listens on the network of the server and connects each client to it. With tiny, the socket
// buffers on both sides are.
func newProxy(network, server string, tiny bool) (*proxy, error) {
	var control func(string, string, syscall.RawConn) error
	if tiny {
		control = shrink
	}
	d := net.Dialer{Timeout: time.Second, Control: control}
	p := &proxy{tiny: tiny, links: make(map[*link]bool), dial: func() (net.Conn, error) { return d.Dial(network, server) }}
	p.weather.Store(&weather{over: make(chan struct{})})
	var err error
	addr := "127.0.0.1:0"
	if network == "unix" {
		if p.dir, err = os.MkdirTemp("", "px"); err != nil {
			return nil, err
		}
		addr = filepath.Join(p.dir, "s")
	}
	lc := net.ListenConfig{Control: control}
	if p.ln, err = lc.Listen(context.Background(), network, addr); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	p.wg.Go(p.accept)
	return p, nil
}

// addr is the proxy's address as client.New takes it.
func (p *proxy) addr() string {
	if p.dir != "" {
		return "unix:" + p.ln.Addr().String()
	}
	return p.ln.Addr().String()
}

// change sets the weather.
func (p *proxy) change(w weather) {
	w.over = make(chan struct{})
	close(p.weather.Swap(&w).over)
}

// each does something to all connections there are.
func (p *proxy) each(f func(*link)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		f(l)
	}
}

func (p *proxy) close() error {
	err := p.ln.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.each((*link).close)
	p.wg.Wait()
	if p.dir != "" {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}

func (p *proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		s, err := p.dial()
		if err != nil {
			_ = c.Close()
			continue
		}
		l := &link{client: c, server: s, gone: make(chan struct{})}
		p.mu.Lock()
		if p.closed {
			l.close()
		} else {
			p.links[l] = true
			p.wg.Go(func() { p.requests(l) })
			p.wg.Go(func() { p.replies(l) })
		}
		p.mu.Unlock()
	}
}

// piece is how much is taken at a time.
func (p *proxy) piece() int {
	if p.tiny {
		return 1500
	}
	return 16 << 10
}

// requests carries bytes to the server.
func (p *proxy) requests(l *link) {
	defer p.drop(l)
	buf := make([]byte, p.piece())
	for {
		if w := p.weather.Load(); w.halt {
			l.wait(w, time.Hour)
			if l.isGone() {
				return
			}
			continue
		}
		n, err := l.client.Read(buf)
		if n > 0 && !l.hole.Load() {
			if _, err := l.server.Write(buf[:n]); err != nil && !l.hole.Load() {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// replies carries bytes to the client, through the weather.
func (p *proxy) replies(l *link) {
	defer p.drop(l)
	buf := make([]byte, p.piece())
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for {
		n, err := l.server.Read(buf)
		if l.hole.Load() { // the server's end may be closed; the client learns nothing of it
			<-l.gone
			return
		}
		if w := p.weather.Load(); w.delay != nil && n > 0 {
			l.wait(w, w.delay(r))
		}
		if !p.deliver(l, buf[:n]) || err != nil {
			return
		}
	}
}

// deliver gives bytes to the client, dripping while it is the weather for it.
func (p *proxy) deliver(l *link, b []byte) bool {
	for len(b) > 0 {
		if l.hole.Load() {
			<-l.gone
			return false
		}
		n := len(b)
		w := p.weather.Load()
		if w.drip > 0 {
			n = 1
		}
		cut := l.cut.Load()
		if cut > 0 {
			n = min(n, int(cut-1))
		}
		if _, err := l.client.Write(b[:n]); err != nil {
			return false
		}
		if cut > 0 && l.cut.CompareAndSwap(cut, cut-int64(n)) && cut-int64(n) <= 1 {
			return false
		}
		if b = b[n:]; w.drip > 0 {
			l.wait(w, w.drip)
		}
	}
	return true
}

// drop ends a connection when one of its directions has.
func (p *proxy) drop(l *link) {
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

func (l *link) close() {
	l.once.Do(func() {
		_ = l.client.Close()
		_ = l.server.Close()
		close(l.gone)
	})
}

func (l *link) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// wait sleeps until the weather changes or the connection ends, at most for d.
func (l *link) wait(w *weather, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.over:
	case <-l.gone:
	}
}

// reset ends the connection without a goodbye: the client gets an RST.
func (l *link) reset() {
	if t, ok := l.client.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	l.close()
}

// vanish makes the server disappear as with its machine's power: nothing comes any more, not even an end.
func (l *link) vanish() {
	l.hole.Store(true)
	_ = l.server.Close()
}

// halfClose ends the replies, while requests are still taken.
func (l *link) halfClose() {
	if c, ok := l.client.(interface{ CloseWrite() error }); ok {
		l.hole.Store(true)
		_ = c.CloseWrite()
	}
}
