package memcache

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

// fleet is a client of memring's, whose list of servers is fixed. A change of
// the list makes a new fleet, and the old one is closed when the calls that hold
// it have ended.
type fleet struct {
	cl      *client.Client
	timeout time.Duration
	index   map[address]int            // of a server in cl's list
	list    atomic.Pointer[[]net.Addr] // the ServerList's that this is good for
	extra   []net.Addr                 // picked by a selector of the user's own whose Each does not tell them

	mu     sync.RWMutex // held for reading by each call
	closed bool
}

// serves reports whether f is as the client wants it now.
func (f *fleet) serves(w *wish) bool { return f.timeout == w.timeout && f.list.Load() == w.list }

// locate looks the servers' indices up. It fails if one is missing.
func (f *fleet) locate(addrs []net.Addr, servers []int) bool {
	for i, a := range addrs {
		var ok bool
		if servers[i], ok = f.index[addressOf(a)]; !ok {
			return false
		}
	}
	return true
}

// hold keeps f from being closed until release. It fails if f is being closed.
func (f *fleet) hold() bool {
	if !f.mu.TryRLock() {
		return false
	}
	if f.closed {
		f.mu.RUnlock()
		return false
	}
	return true
}

func (f *fleet) release() { f.mu.RUnlock() }

// close waits for the calls under way and closes all connections.
func (f *fleet) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.cl.Close()
}

// fleets are a client's: the one in use, and those that are being closed. It does
// not refer to the client, which may become garbage before it.
type fleets struct {
	current atomic.Pointer[fleet]

	mu  sync.Mutex
	old map[*fleet]bool
}

// renew makes the fleet in use one that has addrs and is right in all else, unless
// somebody else has done that meanwhile.
func (all *fleets) renew(c *Client, addrs []net.Addr) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	w := c.wish() // that of now: it must not go back to an older list
	was := all.current.Load()
	if was != nil && was.serves(&w) && was.locate(addrs, make([]int, len(addrs))) {
		return nil
	}
	now := &fleet{timeout: w.timeout, index: make(map[address]int)}
	now.list.Store(w.list)
	if was != nil && w.list == nil {
		now.extra = slices.Clone(was.extra)
	}
	names, err := now.collect(c.selector, addrs)
	if err != nil {
		return err
	}
	if was != nil && was.timeout == w.timeout && was.same(now) {
		was.list.Store(w.list) // the same servers in another order or number
		return nil
	}
	if now.cl, err = client.New(names, c.config(w.timeout)); err != nil {
		return &callError{err}
	}
	all.current.Store(now)
	all.retire(was)
	return nil
}

// config is what memring's client is told.
func (c *Client) config(timeout time.Duration) *client.Config {
	var cfg client.Config
	if c.Config != nil {
		cfg = *c.Config
	}
	cfg.OpTimeout, cfg.DialContext, cfg.Selector = timeout, c.DialContext, nil
	if cfg.DialTimeout == 0 {
		cfg.DialTimeout = timeout
	}
	return &cfg
}

// collect numbers the selector's servers, and addrs, and returns their names. One
// that can't be connected to is left out, and costs only its own keys' calls an
// error.
func (f *fleet) collect(ss ServerSelector, addrs []net.Addr) (names []string, err error) {
	add := func(a net.Addr) error {
		name, err := serverName(a)
		if err != nil {
			return err
		}
		i := slices.Index(names, name) // a server may be listed twice, or have two addresses
		if i < 0 {
			i = len(names)
			names = append(names, name)
		}
		f.index[addressOf(a)] = i
		return nil
	}
	if err := ss.Each(func(a net.Addr) error { _ = add(a); return nil }); err != nil {
		return nil, err
	}
	told := len(names)
	f.extra = append(f.extra, addrs...)
	for _, a := range f.extra {
		if err := add(a); err != nil {
			return nil, err
		}
	}
	f.extra = slices.DeleteFunc(f.extra, func(a net.Addr) bool { return f.index[addressOf(a)] < told })
	return names, nil
}

// same reports whether two fleets have the same servers.
func (f *fleet) same(other *fleet) bool {
	if len(f.index) != len(other.index) {
		return false
	}
	for a := range f.index {
		if _, ok := other.index[a]; !ok {
			return false
		}
	}
	return true
}

// retire closes f when its calls have ended. mu is held.
func (all *fleets) retire(f *fleet) {
	if f == nil {
		return
	}
	if all.old == nil {
		all.old = make(map[*fleet]bool)
	}
	all.old[f] = true
	go func() {
		_ = f.close() // always nil, see client.Client.Close
		all.mu.Lock()
		defer all.mu.Unlock()
		delete(all.old, f)
	}()
}

// close waits for the calls under way and closes all connections.
func (all *fleets) close() error {
	all.mu.Lock()
	var list []*fleet
	if f := all.current.Swap(nil); f != nil {
		list = append(list, f)
	}
	for f := range all.old {
		list = append(list, f)
	}
	all.mu.Unlock()
	var errs []error
	for _, f := range list {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// addressOf is what tells servers apart.
func addressOf(a net.Addr) address {
	if own, ok := a.(*address); ok {
		return *own
	}
	return address{a.Network(), a.String()}
}

// serverName is a's name for memring's client.
func serverName(a net.Addr) (string, error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("memcache: server address %q of network %q: %s", a, a.Network(), why)
	}
	text := a.String()
	switch a.Network() {
	case "unix":
		if text == "" {
			return bad("the path is missing")
		}
		if text[0] != '@' { // of Linux's abstract namespace
			var err error
			if text, err = filepath.Abs(text); err != nil {
				return "", err
			}
		}
		return "unix:" + text, nil
	case "tcp", "tcp4", "tcp6":
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return bad("want host:port")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return bad("the port is no number from 1 to 65535")
		}
		if host == "" {
			host = "127.0.0.1" // where net dials to then, too
		}
		return net.JoinHostPort(host, port), nil
	}
	return bad("want tcp or unix")
}
