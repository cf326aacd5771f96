package memcache

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

const (
	// DefaultTimeout is the Timeout of a Client that sets none.
	DefaultTimeout = 500 * time.Millisecond
	// DefaultMaxIdleConns is there for programs that name it. See
	// [Client.MaxIdleConns].
	DefaultMaxIdleConns = 2
)

// Client has gomemcache's API and does its work with memring's client. It is
// safe for use by many goroutines, which share few connections. Make it with
// [New] or [NewFromSelector], set its fields before the first call, and don't
// copy it.
type Client struct {
	// DialContext connects to servers, for example over TLS. Such connections run
	// on the poll engine. If nil, the engine connects by itself. It is looked at
	// when connections are made for the first time, after Close, and when there is
	// a new server.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Timeout bounds each call, the time to connect included. If zero,
	// [DefaultTimeout]; if negative, every call times out. A change between calls
	// holds from the next one on, and has all servers connected to anew.
	Timeout time.Duration

	// MaxIdleConns is not looked at. gomemcache opens a connection for each call
	// under way and keeps so many of them; here all calls share
	// [client.Config].ConnsPerServer.
	MaxIdleConns int

	// Config, which gomemcache does not have, is what memring can be told beyond
	// it; nil is the defaults. OpTimeout, DialContext and Selector are not looked
	// at; DialTimeout is Timeout if zero. KeyPrefix does not count for the choice of
	// the server. It is read when DialContext is, and must not change after that.
	Config *client.Config

	selector ServerSelector
	fleets   atomic.Pointer[fleets] // nil until the first call
}

// Item is what the server stores under a key.
type Item struct {
	Key   string // 1 to 250 bytes without spaces and control characters
	Value []byte
	Flags uint32 // stored and returned, not looked at

	// Expiration is when the item ends, in seconds: up to 30 days (2,592,000)
	// from now, above that as a Unix time, which the server holds against its own
	// clock. Zero is never, negative is at once. Calls that return an Item leave it
	// zero.
	Expiration int32

	// CasID is the item's version: set by Get, GetMulti and GetAndTouch, and used
	// by CompareAndSwap.
	CasID uint64
}

// New makes a client for servers, see [ServerList.SetServers]. It does not
// connect. If a server's name cannot be resolved the client has no servers, and
// its calls return [ErrNoServers]; to see the error, use a ServerList and
// [NewFromSelector].
func New(server ...string) *Client {
	var list ServerList
	_ = list.SetServers(server...) // gomemcache's New has no error to return either
	return NewFromSelector(&list)
}

// NewFromSelector makes a client that asks ss for each key's server. It does not
// connect.
func NewFromSelector(ss ServerSelector) *Client { return &Client{selector: ss} }

// Close waits for the calls under way and closes all connections. The client may
// still be used; it connects anew then.
func (c *Client) Close() error {
	if f := c.fleets.Load(); f != nil {
		return f.close()
	}
	return nil
}

// timeout is how long calls may take.
func (c *Client) timeout() time.Duration {
	switch {
	case c.Timeout == 0:
		return DefaultTimeout
	case c.Timeout < 0:
		return 1 // nanosecond: for memring's client, negative is no bound
	}
	return c.Timeout
}

// acquire returns the fleet that addr's server is in, and the server's index in
// it. The fleet is kept for the caller until it calls release.
func (c *Client) acquire(addr net.Addr) (*fleet, int, error) {
	for {
		w := c.wish()
		if f := w.all.current.Load(); f != nil && f.serves(&w) {
			if i, ok := f.index[addressOf(addr)]; ok && f.hold() {
				return f, i, nil
			}
		}
		if err := w.all.renew(c, []net.Addr{addr}); err != nil {
			return nil, 0, err
		}
	}
}

// acquireAll is acquire for several servers, all of one fleet.
func (c *Client) acquireAll(addrs []net.Addr) (*fleet, []int, error) {
	servers := make([]int, len(addrs))
	for {
		w := c.wish()
		if f := w.all.current.Load(); f != nil && f.serves(&w) && f.locate(addrs, servers) && f.hold() {
			return f, servers, nil
		}
		if err := w.all.renew(c, addrs); err != nil {
			return nil, nil, err
		}
	}
}

// wish is what a client's fleet has to be like, now.
type wish struct {
	all     *fleets
	timeout time.Duration
	list    *[]net.Addr // the ServerList's; nil for a selector of the user's own
}

func (c *Client) wish() wish {
	w := wish{all: c.fleets.Load(), timeout: c.timeout()}
	if w.all == nil {
		w.all = c.firstFleets()
	}
	if l, ok := c.selector.(*ServerList); ok {
		w.list = l.addrs.Load()
	}
	return w
}

// firstFleets makes the place for fleets. They give everything back when the
// client is garbage, for programs that were written when gomemcache had no Close;
// nobody is left to be told of an error then.
func (c *Client) firstFleets() *fleets {
	all := new(fleets)
	if !c.fleets.CompareAndSwap(nil, all) {
		return c.fleets.Load()
	}
	runtime.AddCleanup(c, func(f *fleets) { go f.close() }, all)
	return all
}
