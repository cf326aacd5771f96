package memcachedtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

const (
	defaultItemLimitBytes = 1 << 20
	defaultVersion        = "1.6.18"
)

// ServerOptions says how a [Server] behaves. The zero value is a well-behaved
// memcached 1.6.18 on a free TCP port of 127.0.0.1.
type ServerOptions struct {
	// Network is "tcp" (127.0.0.1, a free port), "unix" (a socket in a new
	// temporary folder), or "none" (no listener: use Pipe or DialContext). If
	// empty, "tcp".
	Network string

	// Script chooses what happens to each request. If nil, all are answered.
	Script Script

	// OnConnect chooses what happens to each connection, given its number from
	// 1 on. It must not block. If nil, all are served.
	OnConnect func(conn int) ConnAction

	// ItemLimitBytes is the largest item, with memcached's overhead of some 60
	// bytes and the key. If zero, 1 MiB.
	ItemLimitBytes int

	// Version is what the server says it is. From "1.6.20", "1.6.27" and "1.6.40" on
	// it knows the flags that memcached has from then on: s and N of ms, the latter
	// for append and prepend; E, and x of md; C of mg. Nothing else changes. If empty,
	// "1.6.18".
	Version string

	// Auth, if not nil, makes connections authenticate themselves before anything
	// else, as a server with -Y does, and says which credentials are good. What comes
	// before is not given to Script; see [Server.Unauthenticated].
	Auth func(user, password string) bool

	// TLS, if not nil, has the listener's connections speak TLS, as a server with -Z
	// does.
	TLS *tls.Config

	// RecordLimit is how many requests are kept for [Server.Requests]. If
	// zero, 10,000; if negative, none. All are counted.
	RecordLimit int
}

// ConnAction is what the server does with a new connection.
type ConnAction int

const (
	// ConnServe serves the connection.
	ConnServe ConnAction = iota
	// ConnMute reads and records requests, but carries out and answers none.
	ConnMute
	// ConnDeaf doesn't even read, so that the client's writes block in the end.
	ConnDeaf
	// ConnClose closes the connection at once.
	ConnClose
	// ConnReset resets the connection at once (TCP; on other networks it
	// closes).
	ConnReset
)

// Server is a small memcached inside the process, with faults on demand. It
// knows the meta commands (mg, ms, md, ma, mn and a minimal me), get, gets,
// gat, gats, set, add, replace, append, prepend, cas, delete, incr, decr,
// touch, flush_all, verbosity, version, quit, and a few statistics, as
// memcached 1.6.18 answers them, or a later one, see ServerOptions.Version. It does
// not know commands that dump, watch or administer.
//
// Its methods may be called from any goroutine.
type Server struct {
	opts   ServerOptions
	dir    string // of the UNIX socket
	store  *store
	script atomic.Pointer[Script]
	log    recorder
	wg     sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	addr     net.Addr // of the first listener, kept over Refuse
	refusing bool
	closed   bool
	accepted int
	conns    map[*serverConn]struct{}
}

// NewServer starts a server that lives until the test and its subtests have
// ended.
func NewServer(tb testing.TB, opts ServerOptions) *Server {
	tb.Helper()
	s, err := RunServer(opts)
	if err != nil {
		tb.Fatalf("memcachedtest: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("memcachedtest: %v", err)
		}
	})
	return s
}

// RunServer starts a server, which the caller ends with [Server.Close].
func RunServer(opts ServerOptions) (*Server, error) {
	if opts.ItemLimitBytes == 0 {
		opts.ItemLimitBytes = defaultItemLimitBytes
	}
	if opts.Version == "" {
		opts.Version = defaultVersion
	}
	s := &Server{opts: opts, store: newStore(opts.ItemLimitBytes, opts.Version), conns: make(map[*serverConn]struct{})}
	s.log.init(opts.RecordLimit)
	s.SetScript(opts.Script)
	switch opts.Network {
	case "", "tcp":
		s.opts.Network = "tcp"
	case "unix":
		dir, err := shortTempDir()
		if err != nil {
			return nil, fmt.Errorf("server: temporary folder: %w", err)
		}
		s.dir = dir
	case "none":
		return s, nil
	default:
		return nil, fmt.Errorf("server: unknown network %q: use tcp, unix or none", opts.Network)
	}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// listen starts to accept connections. The first time it settles the address.
func (s *Server) listen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := "127.0.0.1:0"
	switch {
	case s.closed:
		return net.ErrClosed
	case s.listener != nil:
		return nil
	case s.addr != nil:
		address = s.addr.String()
	case s.dir != "":
		address = filepath.Join(s.dir, "s")
	}
	if s.dir != "" {
		if err := os.Remove(address); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("server: old socket: %w", err)
		}
	}
	l, err := net.Listen(s.opts.Network, address)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		// As with a real server that has ended: refused, not missing.
		u.SetUnlinkOnClose(false)
	}
	if s.opts.TLS != nil {
		l = tls.NewListener(l, s.opts.TLS)
	}
	s.listener = l
	if s.addr == nil {
		s.addr = l.Addr() // once, so that Addr needs no lock
	}
	s.wg.Go(func() { s.accept(l) })
	return nil
}

func (s *Server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed; a broken listener shows as refused connections
		}
		s.Serve(c)
	}
}

// Addr is the server's address as the client's New takes it: "127.0.0.1:port",
// "unix:/path", or "pipe.invalid:11211" without a listener.
func (s *Server) Addr() string {
	switch s.opts.Network {
	case "none":
		return "pipe.invalid:11211"
	case "unix":
		return "unix:" + s.addr.String()
	}
	return s.addr.String()
}

// DialContext connects to the server whatever the address, over a [net.Pipe] if
// it has no listener. It has the signature of [net.Dialer.DialContext], to be
// put in its place.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.opts.Network != "none" {
		var d net.Dialer
		return d.DialContext(ctx, s.opts.Network, s.addr.String())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	refused := s.refusing || s.closed
	s.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	}
	return s.Pipe(), nil
}

// Pipe makes a [net.Pipe], serves one end and returns the other. Its reads and
// writes block durably in the sense of testing/synctest.
func (s *Server) Pipe() net.Conn {
	client, server := net.Pipe()
	s.Serve(server)
	return client
}

// Serve takes a connection over, as if it had been accepted, and returns at
// once.
func (s *Server) Serve(c net.Conn) {
	s.mu.Lock()
	s.accepted++
	id := s.accepted
	s.mu.Unlock()
	what := ConnServe
	if s.opts.OnConnect != nil {
		what = s.opts.OnConnect(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return
	}
	sc := newServerConn(s, c, id)
	s.conns[sc] = struct{}{}
	sc.start(what)
	s.log.notify()
}

func (s *Server) forget(sc *serverConn) {
	s.mu.Lock()
	delete(s.conns, sc)
	s.mu.Unlock()
	s.log.notify()
}

// SetScript replaces the script for requests that come from now on. Nil answers
// all.
func (s *Server) SetScript(script Script) {
	if script == nil {
		script = func(Request) Action { return Answer() }
	}
	s.script.Store(&script)
}

// Refuse makes the server refuse new connections, as one that isn't running
// does, or accept them again on the same address. Accepted connections go on.
func (s *Server) Refuse(on bool) error {
	s.mu.Lock()
	s.refusing = on
	l := s.listener
	if on {
		s.listener = nil
	}
	s.mu.Unlock()
	switch {
	case s.opts.Network == "none":
		return nil
	case !on:
		return s.listen()
	case l != nil:
		return l.Close()
	}
	return nil
}

// CloseConns closes all connections, as a server that ends does.
func (s *Server) CloseConns() { s.endConns(closeConn) }

// HalfCloseConns sends a FIN on all connections and goes on reading them.
func (s *Server) HalfCloseConns() { s.endConns(halfCloseConn) }

// ResetConns resets all connections (TCP; others are closed).
func (s *Server) ResetConns() { s.endConns(resetConn) }

func (s *Server) endConns(how ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sc := range s.conns {
		sc.endNow(how)
	}
}

// Close ends the listener and all connections and returns once no goroutine of
// the server is left. Idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	l := s.listener
	s.listener = nil
	s.mu.Unlock()
	var err error
	if l != nil {
		err = l.Close()
	}
	s.CloseConns()
	s.wg.Wait()
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
