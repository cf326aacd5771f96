package secure

import (
	"crypto/tls"
	"sync"
	"sync/atomic"

	"github.com/memring/memring/client/transport"
)

// window is where decrypted bytes are presented.
type window = [transport.WindowSize]byte

// conn is one connection: a [transport.Conn] to the client, and the Handler of one
// to the inner engine. It has two sides with a lock each; see send.go and receive.go.
//
// Of the locks, reading is taken first: a Handler's calls are made under it. Then
// come the Handler's own locks, which callers of Send and Retract hold as well, then
// sending, those of crypto/tls, wire.mu, and the inner engine's.
type conn struct {
	e    *Engine
	h    transport.Handler
	on   [1]transport.Conn // the inner connection
	tls  *tls.Conn
	wire wire
	gone atomic.Bool // dead is set

	asked certRequest // for a certificate of ours

	reading sync.Mutex // orders Handler calls, and guards these:
	early   []byte     // what has come during the handshake
	news    transport.Waiter
	ready   bool    // the handshake is done: what comes is for h
	heard   bool    // something has come for h
	end     error   // what the inner engine has closed it with
	window  *window // nil if nothing is in it
	have    int     // bytes at the front of window that were not used
	into    []byte  // where the next bytes land instead: h's memory, ours until the next call

	sending sync.Mutex // guards these:
	plain   transport.Outbox
	queue   queue // of the requests in plain
	dead    error // no more sends
	sealed  int   // encrypted bytes that the inner connection had queued at last count
	flights tally // what was in them
	dirty   atomic.Bool
}

var (
	_ transport.Conn    = (*conn)(nil)
	_ transport.Handler = (*conn)(nil)
)

func newConn(e *Engine, h transport.Handler, p peer) *conn {
	c := &conn{e: e, h: h, wire: wire{peer: p}}
	c.news.Init()
	return c
}

// Ended implements [transport.Conn].
func (c *conn) Ended() bool { return c.gone.Load() || c.on[0].Ended() }

// Close implements [transport.Conn].
func (c *conn) Close() error {
	_ = c.die(transport.ErrClosed)
	return c.on[0].Close()
}

// die forbids further sends, and returns why that was done first.
func (c *conn) die(err error) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.dieLocked(err)
	return c.dead
}

func (c *conn) dieLocked(err error) {
	if c.dead == nil {
		c.dead = err
		c.gone.Store(true)
	}
}
