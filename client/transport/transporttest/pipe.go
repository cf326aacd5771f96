package transporttest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeSize is how many bytes each direction of a [Pipe] holds before its writer
// must wait, as in a socket's buffer.
const pipeSize = 64 << 10

// Pipe returns the two ends of a connection through memory. Unlike those of
// [net.Pipe] they have buffers, so that a Write need not meet a Read. An end
// that closes lets the other read what is on the way, and then EOF.
func Pipe() (net.Conn, net.Conn) {
	a, b := newQueue(), newQueue()
	return &pipeEnd{in: a, out: b}, &pipeEnd{in: b, out: a}
}

type pipeEnd struct{ in, out *queue }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.write(b) }

func (p *pipeEnd) Close() error {
	p.in.closeRead()
	p.out.closeWrite()
	return nil
}

func (p *pipeEnd) LocalAddr() net.Addr                { return memAddr("pipe") }
func (p *pipeEnd) RemoteAddr() net.Addr               { return memAddr("pipe") }
func (p *pipeEnd) SetReadDeadline(t time.Time) error  { p.in.reading.set(p.in, t); return nil }
func (p *pipeEnd) SetWriteDeadline(t time.Time) error { p.out.writing.set(p.out, t); return nil }

func (p *pipeEnd) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

// A queue is one direction of a pipe.
type queue struct {
	mu               sync.Mutex
	cond             sync.Cond // all that is below
	data             []byte    // a ring
	head, size       int
	noReader, ended  bool // the reader's side was closed, the writer's was
	reading, writing limit
}

func newQueue() *queue {
	q := &queue{data: make([]byte, pipeSize)}
	q.cond.L = &q.mu
	return q
}

// A limit is the deadline of one side.
type limit struct {
	passed bool
	timer  *time.Timer
}

func (l *limit) set(q *queue, t time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.passed = !t.IsZero() && !t.After(time.Now())
	if l.passed {
		q.cond.Broadcast()
	} else if !t.IsZero() {
		var timer *time.Timer
		timer = time.AfterFunc(time.Until(t), func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if l.timer == timer {
				l.passed = true
				q.cond.Broadcast()
			}
		})
		l.timer = timer
	}
}

func (q *queue) read(b []byte) (n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.noReader:
			return 0, net.ErrClosed
		case q.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case q.size > 0 || len(b) == 0:
			n = copy(b, q.data[q.head:min(q.head+q.size, pipeSize)])
			n += copy(b[n:], q.data[:q.size-n])
			q.head = (q.head + n) % pipeSize
			q.size -= n
			q.cond.Broadcast()
			return n, nil
		case q.ended:
			return 0, io.EOF
		}
		q.cond.Wait()
	}
}

func (q *queue) write(b []byte) (n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.ended:
			return n, net.ErrClosed
		case q.noReader:
			return n, io.ErrClosedPipe
		case q.writing.passed:
			return n, os.ErrDeadlineExceeded
		case len(b) == n:
			return n, nil
		case q.size < pipeSize:
			tail := (q.head + q.size) % pipeSize
			room := min(pipeSize-q.size, pipeSize-tail)
			k := copy(q.data[tail:tail+room], b[n:])
			n += k
			q.size += k
			q.cond.Broadcast()
			continue
		}
		q.cond.Wait()
	}
}

func (q *queue) closeRead() {
	q.mu.Lock()
	q.noReader = true
	q.size = 0
	q.cond.Broadcast()
	q.mu.Unlock()
}

func (q *queue) closeWrite() {
	q.mu.Lock()
	q.ended = true
	q.cond.Broadcast()
	q.mu.Unlock()
}
