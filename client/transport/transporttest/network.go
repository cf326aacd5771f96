package transporttest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// A Fake is an engine without sockets: its connections lead through memory to
// listeners of its own [Network], where a test's server scripts what the peer
// does.
//
// It is the poll engine over in-memory connections, not a third
// implementation. A fake of the seam would have to repeat the parts that are
// hard (who drives, who is woken, when Closed may be called), and tests with it
// would say little about the engines that users run. In a bubble of
// testing/synctest its time is the bubble's, so that deadlines pass exactly
// when nothing else can happen.
type Fake struct {
	transport.Engine
	*Network
}

// NewFake makes an engine with a network of its own.
func NewFake() *Fake {
	n := NewNetwork()
	return &Fake{fallback.New(&fallback.Config{DialContext: n.DialContext}), n}
}

// A Network connects dialers to listeners in memory. Its addresses are names.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
	made      int
}

// NewNetwork makes a network without listeners.
func NewNetwork() *Network { return &Network{listeners: make(map[string]*listener)} }

// Listen makes a listener at addr, or at an address of its own if addr is
// empty.
func (n *Network) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr == "" {
		n.made++
		addr = fmt.Sprint("memory-", n.made)
	}
	if n.listeners[addr] != nil {
		return nil, fmt.Errorf("listen %s: address in use", addr)
	}
	l := &listener{network: n, addr: memAddr(addr), backlog: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[addr] = l
	return l, nil
}

// DialContext connects to the listener at addr. It waits until that accepts.
func (n *Network) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[addr]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: connection refused", addr)
	}
	client, server := Pipe()
	select {
	case l.backlog <- server:
		return client, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: connection refused", addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	network *Network
	addr    memAddr
	backlog chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.addr))
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

type memAddr string

func (memAddr) Network() string  { return "memory" }
func (a memAddr) String() string { return string(a) }
