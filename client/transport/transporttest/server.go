package transporttest

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"
)

// serve runs script for every connection that is made to the address which it
// returns, until the case ends. A connection is closed when its script returns.
func (e *env) serve(script func(c net.Conn)) (addr string) {
	return serve(e.T, e.opts.Listen(e.T, e.network), script)
}

func serve(tb testing.TB, l net.Listener, script func(c net.Conn)) (addr string) {
	var (
		mu    sync.Mutex
		conns []net.Conn
		over  bool
		wg    sync.WaitGroup
	)
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if over {
				_ = c.Close()
			}
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				script(c)
			})
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		over = true
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// echoLines answers each line with itself. Replies to requests that came
// together leave together.
func echoLines(c net.Conn) {
	r := bufio.NewReaderSize(c, 64<<10)
	w := bufio.NewWriterSize(c, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		if _, err := w.Write(line); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// A puppet is a server's side of one connection, moved by the case: it sees
// each request as it arrives and says when to answer.
type puppet struct {
	net.Conn
	e     *env
	lines chan string // closed at the end
}

// puppets returns an address and the connections made to it, in order.
func (e *env) puppets() (addr string, accepted <-chan *puppet) {
	ch := make(chan *puppet, 16)
	addr = e.serve(func(c net.Conn) {
		p := &puppet{Conn: c, e: e, lines: make(chan string, 1024)}
		ch <- p
		defer close(p.lines)
		r := bufio.NewReader(c)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- line[:len(line)-1]
		}
	})
	return addr, ch
}

// say writes s as it is.
func (p *puppet) say(s string) {
	if _, err := io.WriteString(p.Conn, s); err != nil {
		p.e.Errorf("server: %v", err)
	}
}

// heard waits for the next request, which must be want.
func (p *puppet) heard(want string) {
	if got, ok := <-p.lines; !ok || got != want {
		p.e.Errorf("server: got %.60q, %v, want %.60q", got, ok, want)
	}
}

// small bounds a connection's socket buffers, which otherwise grow to many
// megabytes. Smaller ones than these make TCP wait for its timers.
func small(c net.Conn) {
	if s, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_ = s.SetReadBuffer(128 << 10)
		_ = s.SetWriteBuffer(128 << 10)
	}
}
