package memcache

import (
	"hash/crc32"
	"net"
	"strings"
	"sync/atomic"
	"unsafe"
)

// ServerSelector spreads keys over servers. Its methods are called from many
// goroutines at once.
type ServerSelector interface {
	// PickServer returns the address of the server that key belongs to, of network
	// "tcp" or "unix". The key need not be a valid one: stores ask before they look
	// at it, and DeleteAll asks for the empty key's server.
	PickServer(key string) (net.Addr, error)
	// Each calls f for every server until f returns an error, which it returns.
	Each(f func(net.Addr) error) error
}

// ServerList is the usual ServerSelector: a key belongs to the server whose
// number is the CRC-32 of the key, modulo the number of servers. This is
// gomemcache's rule to the bit, so that each key stays where it is cached. The
// zero value is an empty list.
type ServerList struct {
	addrs atomic.Pointer[[]net.Addr] // not changed any more
}

var _ ServerSelector = (*ServerList)(nil)

// SetServers replaces the list. A server is "host:port", or the path of a UNIX
// socket if there is a slash in it; one that is listed twice gets twice the keys.
// Names are resolved now and only now; if one fails to, the list stays as it is.
// It may be called at any time, also while a client uses the list.
func (l *ServerList) SetServers(servers ...string) error {
	addrs := make([]net.Addr, len(servers))
	for i, s := range servers {
		var (
			a   net.Addr
			err error
		)
		if strings.Contains(s, "/") {
			a, err = net.ResolveUnixAddr("unix", s)
		} else {
			a, err = net.ResolveTCPAddr("tcp", s)
		}
		if err != nil {
			return err
		}
		addrs[i] = &address{a.Network(), a.String()}
	}
	l.addrs.Store(&addrs)
	return nil
}

// PickServer returns the server that key belongs to, or [ErrNoServers].
func (l *ServerList) PickServer(key string) (net.Addr, error) {
	addrs := l.list()
	switch len(addrs) {
	case 0:
		return nil, ErrNoServers
	case 1:
		return addrs[0], nil
	}
	return addrs[checksum(key)%uint32(len(addrs))], nil
}

// Each calls f for every server, in the order of the list and as often as each
// is in it, until f returns an error, which it returns.
func (l *ServerList) Each(f func(net.Addr) error) error {
	for _, a := range l.list() {
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

func (l *ServerList) list() []net.Addr {
	if p := l.addrs.Load(); p != nil {
		return *p
	}
	return nil
}

// summedMost is how much of a key gomemcache sums up. No valid key is longer.
const summedMost = 256

// checksum is the CRC-32 (IEEE) of key. The bytes are only read, and only during
// the call, so that the string need not be copied.
func checksum(key string) uint32 {
	return crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(key), min(len(key), summedMost)))
}

// address is a net.Addr as text: the String of net's own would allocate.
type address struct{ network, text string }

func (a *address) Network() string { return a.network }
func (a *address) String() string  { return a.text }
