package client_test

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// A door is the way to a scripted server, which reads only what it lets
// through: so requests can be stopped when they are half sent.
type door struct {
	addr string

	mu    sync.Mutex
	moved sync.Cond
	left  int // bytes to let through; negative: all
}

// newDoor listens on the network, in the place of srv, which must have no
// listener of its own. All bytes are let through at first.
func newDoor(t *testing.T, network string, srv *memcachedtest.Server) *door {
	d := &door{left: -1}
	d.moved.L = &d.mu
	at := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "door") // a path of TempDir can be too long for a socket's name
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		at = filepath.Join(dir, "s")
	}
	l, err := net.Listen(network, at)
	require.NoError(t, err)
	d.addr = l.Addr().String()
	if network == "unix" {
		d.addr = "unix:" + d.addr
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetReadBuffer(64 << 10) // or it would grow to megabytes
			}
			srv.Serve(&doorConn{Conn: c, d: d})
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return d
}

// let lets n more bytes through and then no others; all, if n is negative.
func (d *door) let(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
	d.moved.Broadcast()
}

type doorConn struct {
	net.Conn
	d      *door
	closed bool // guarded by d.mu
}

func (c *doorConn) Read(p []byte) (int, error) {
	d := c.d
	d.mu.Lock()
	for d.left == 0 && !c.closed {
		d.moved.Wait()
	}
	if d.left > 0 {
		p = p[:min(len(p), d.left)]
	}
	d.mu.Unlock()
	n, err := c.Conn.Read(p)
	d.mu.Lock()
	if d.left > 0 {
		d.left = max(d.left-n, 0)
	}
	d.mu.Unlock()
	return n, err
}

func (c *doorConn) Close() error {
	c.d.mu.Lock()
	c.closed = true
	c.d.moved.Broadcast()
	c.d.mu.Unlock()
	return c.Conn.Close()
}
