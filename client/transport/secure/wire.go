package secure

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/memring/memring/client/transport"
)

// wire is the net.Conn below crypto/tls, and no connection at all: its reads take
// from what the inner engine has brought, its writes add to what the next flush
// hands to it. Neither waits, but for reads during the handshake.
type wire struct {
	peer peer

	// wait, during the handshake, sends what was written and waits until in has
	// something. Later it is nil.
	wait func() error

	in []byte // ciphertext that has come and was not read; the reader's

	// crypto/tls writes while it reads, too: an answer to a KeyUpdate, an alert. A
	// Handler must not Send, so that is left to the next flush. The order of records
	// is the one in which they are written, under a lock of crypto/tls, so this lock
	// is taken inside of that one, and nothing inside of this.
	mu    sync.Mutex
	out   *[]byte // nil: nothing
	limit int     // out may not grow beyond, unless a flush is under way; 0: never mind
	over  bool    // it would have
}

// errDry is what a read returns that has nothing to read. crypto/tls keeps the
// records that came in part over an error whose Temporary is true, and goes on with
// the next read: "if e, ok := err.(net.Error); !ok || !e.Temporary()" is what makes
// an error last, in readRecordOrCCS (crypto/tls/conn.go, Go 1.26). TestKeyUpdate, which
// has records come byte by byte, fails if that ever changes.
var errDry net.Error = dryError{}

type dryError struct{}

func (dryError) Error() string   { return "nothing has come" }
func (dryError) Timeout() bool   { return true }
func (dryError) Temporary() bool { return true }

var errTooMuch = errors.New("server demands answers all the time and lets no request through")

func (w *wire) Read(p []byte) (int, error) {
	for len(w.in) == 0 {
		if w.wait == nil {
			return 0, errDry
		}
		if err := w.wait(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.room()
	if w.limit > 0 && len(*out)+len(p) > w.limit {
		w.over = true
		return 0, errTooMuch
	}
	*out = append(*out, p...)
	return len(p), nil
}

// expect makes room for the records of n bytes, and lifts the limit.
func (w *wire) expect(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = 0
	if n >= sealAtOnce {
		out := w.room()
		*out = slices.Grow(*out, n+n/8) // the first records are short ones
	}
}

// room returns out, which is there then. mu is held.
func (w *wire) room() *[]byte {
	if w.out == nil {
		w.out = buffers.Get().(*[]byte)
	}
	return w.out
}

// setLimit bounds what may be written without a flush, or not if it is 0.
func (w *wire) setLimit(n int) {
	w.mu.Lock()
	w.limit = n
	w.mu.Unlock()
}

// overflown reports whether a write was refused, after which crypto/tls is out of step
// and its errors are not the cause.
func (w *wire) overflown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// written reports whether anything waits for a flush.
func (w *wire) written() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out != nil
}

// handOn gives send all that was written, if anything was.
func (w *wire) handOn(send func(head, body, tail []byte, loan *transport.Loan) (int, error)) (size, queued int, err error) {
	w.mu.Lock()
	out := w.out
	w.out = nil
	w.mu.Unlock()
	if out == nil {
		return 0, 0, nil
	}
	queued, err = send(*out, nil, nil, nil)
	size = len(*out)
	if cap(*out) <= keptBuffer {
		*out = (*out)[:0]
		buffers.Put(out)
	}
	return size, queued, err
}

// Buffers are lent from here while something is in them: most connections are idle
// most of the time.
var (
	buffers = sync.Pool{New: func() any { return new([]byte) }}
	windows = sync.Pool{New: func() any { return new(window) }}
)

const keptBuffer = 1 << 20

// Close does nothing: the connection's end is not crypto/tls's to decide.
func (w *wire) Close() error { return nil }

func (w *wire) LocalAddr() net.Addr              { return peer{} }
func (w *wire) RemoteAddr() net.Addr             { return w.peer }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// peer is the address that was dialled. If there is no ServerName, it is what crypto/tls
// keeps a server's sessions under.
type peer struct{ network, addr string }

func (p peer) Network() string { return p.network }
func (p peer) String() string  { return p.addr }
