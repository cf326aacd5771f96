package client_test

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// simPipe is what a simulated connection runs over. Unlike net.Pipe it has
// buffers, and unlike transporttest.Pipe they are small, so that a request is
// often half sent; a Read may return few bytes, so that replies are split
// anywhere; it can be half-closed and reset.
type simPipe struct {
	room   int  // bytes that are held on their way to the server
	back   int  // and on their way back
	grain  int  // the most that one Read of the client returns
	resets bool // the server's Close drops what is on the way

	// lag is called before each Read of the server, which it may delay.
	lag func()
}

func (p simPipe) ends() (client, server net.Conn) {
	up, down := newSimStream(p.room, p.room), newSimStream(p.back, p.grain)
	return &simEnd{in: down, out: up}, &simEnd{in: up, out: down, resets: p.resets, lag: p.lag}
}

type simEnd struct {
	in, out *simStream
	resets  bool
	lag     func()
}

func (e *simEnd) Read(b []byte) (int, error) {
	if e.lag != nil {
		e.lag()
	}
	return e.in.read(b)
}

func (e *simEnd) Write(b []byte) (int, error) { return e.out.write(b) }

// ResumesWrites has the engine send large bodies from where they are, see
// fallback.Resumable.
func (e *simEnd) ResumesWrites() bool { return true }

func (e *simEnd) Close() error {
	e.in.update(func(s *simStream) { s.gone, s.data = true, nil })
	e.out.update(func(s *simStream) {
		if e.resets && !s.ended {
			s.data, s.reset = nil, true
		}
		s.ended = true
	})
	return nil
}

func (e *simEnd) CloseWrite() error {
	e.out.update(func(s *simStream) { s.ended = true })
	return nil
}

func (e *simEnd) LocalAddr() net.Addr                { return &net.UnixAddr{Name: "sim", Net: "unix"} }
func (e *simEnd) RemoteAddr() net.Addr               { return e.LocalAddr() }
func (e *simEnd) SetReadDeadline(t time.Time) error  { e.in.limit(&e.in.reading, t); return nil }
func (e *simEnd) SetWriteDeadline(t time.Time) error { e.out.limit(&e.out.writing, t); return nil }

func (e *simEnd) SetDeadline(t time.Time) error {
	_ = e.SetReadDeadline(t)
	return e.SetWriteDeadline(t)
}

// simStream is one direction.
type simStream struct {
	room, grain int

	mu               sync.Mutex
	cond             sync.Cond
	data             []byte
	ended            bool // nothing more is written
	gone             bool // nothing more is read
	reset            bool
	reading, writing simLimit
}

// simLimit is the deadline of one side.
type simLimit struct {
	passed bool
	timer  *time.Timer
}

func newSimStream(room, grain int) *simStream {
	s := &simStream{room: room, grain: grain}
	s.cond.L = &s.mu
	return s
}

func (s *simStream) update(f func(*simStream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	s.cond.Broadcast()
}

func (s *simStream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.gone:
			return 0, net.ErrClosed
		case s.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case s.reset:
			return 0, syscall.ECONNRESET
		case len(s.data) > 0:
			n := copy(b[:min(len(b), s.grain)], s.data)
			s.data = s.data[n:]
			s.cond.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

func (s *simStream) write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, net.ErrClosed
		case s.gone:
			return n, syscall.EPIPE
		case s.writing.passed:
			return n, os.ErrDeadlineExceeded
		case n == len(b):
			return n, nil
		case len(s.data) < s.room:
			k := min(s.room-len(s.data), len(b)-n)
			s.data = append(s.data, b[n:n+k]...)
			n += k
			s.cond.Broadcast()
			continue
		}
		s.cond.Wait()
	}
}

func (s *simStream) limit(l *simLimit, t time.Time) {
	s.update(func(s *simStream) {
		if l.timer != nil {
			l.timer.Stop()
			l.timer = nil
		}
		l.passed = !t.IsZero() && !t.After(time.Now())
		if l.passed || t.IsZero() {
			return
		}
		var timer *time.Timer
		timer = time.AfterFunc(time.Until(t), func() {
			s.update(func(*simStream) { l.passed = l.passed || l.timer == timer })
		})
		l.timer = timer
	})
}
