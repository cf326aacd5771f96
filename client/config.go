package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"time"
)

// EngineKind chooses the I/O engine.
type EngineKind uint8

const (
	// Auto is io_uring where it can be had, else poll.
	Auto EngineKind = iota
	// URing is io_uring, or New fails.
	URing
	// Poll is the engine on Go's network poller.
	Poll
)

// Config tunes a client. The zero value, and a nil *Config, are good defaults.
type Config struct {
	// Engine is the I/O engine. The zero value chooses by itself; see
	// [Client.Engine] for what was chosen and why.
	Engine EngineKind

	// Rings is the number of io_uring instances. Each has its own connections
	// and one driver at a time, so more than one only helps if parsing replies
	// keeps a core busy. If zero, one for every eight processors.
	Rings int

	// ConnsPerServer is the largest number of connections to one server on each
	// ring. Requests of many goroutines share a connection; another is opened
	// only when one has more than a few dozen requests outstanding, or owes
	// replies that nobody waits for any more. If zero, 2.
	ConnsPerServer int

	// SpareConns is how many connections beyond ConnsPerServer may be opened to a
	// server, on each ring, while calls to it time out. The replies on a connection
	// come in the order of the requests, so one that is late makes all those behind
	// it late; spread over more connections, fewer are behind it. Connections are
	// opened as they are needed, each once, and kept: 64 KiB of memory each. If zero,
	// 126, but none if ConnsPerServer is set; if negative, none.
	SpareConns int

	// OpTimeout bounds each call, together with the context's deadline, and
	// includes the time to connect. Of SetMulti, DeleteMulti, TouchMulti and Do it
	// bounds how long a server may bring nothing. If zero, 1 s; if negative, no bound.
	OpTimeout time.Duration

	// DialTimeout bounds one attempt to connect. If zero, 1 s; if negative, no
	// bound but the operating system's.
	DialTimeout time.Duration

	// StallLimit is for how long a connection that owes replies to calls that
	// have given up may bring nothing at all before it is closed. Until then a
	// timeout costs nothing but the call. It should be longer than a server may
	// pause in good health, or a short stall turns into a reconnect storm, and
	// shorter than what TCP takes to give up on a dead one, which is minutes. If
	// zero, 10 s: ten times the default OpTimeout, and more than the migration of
	// a virtual machine or three retransmissions in a row (1 + 2 + 4 s, if the
	// first lost packet of a connection is retried after 1 s) keep a server
	// silent. If negative, no bound. A stall is noticed up to an eighth later.
	StallLimit time.Duration

	// MaxDebt is the number of abandoned requests that a connection may owe
	// replies for before it is closed: from some number on, connecting anew is
	// cheaper than to wait for them. If zero, 1,024: with values of some KiB that
	// is a few MiB to read and throw away, which takes milliseconds, as a new
	// connection does; and the memory of the requests that wait, half a KiB each,
	// stays below 1 MiB. If negative, no bound.
	MaxDebt int

	// DirectReceive is how many bytes of a value must be missing behind what has
	// come through a connection's 64 KiB receive buffer to be received straight into
	// the value's place, which saves copying them. If zero, 64 KiB, about where a
	// sweep of sizes found it to begin to pay; at 1 MiB it saves a fifth of the CPU.
	// If negative, everything goes through the buffer.
	DirectReceive int

	// DirectSend is the size in bytes from which on a value to be stored is sent from
	// where it is, in one system call with its request, instead of being copied
	// first. If zero, 16 KiB, from where on the same sweep found it no slower; at
	// 256 KiB copying takes three times the CPU. If negative, values are always
	// copied. Connections of DialContext copy them in any case, unless they are
	// plain sockets.
	DirectSend int

	// LateWrite, if not nil, learns how a write ended whose call had given up with
	// its outcome unknown: stores, Delete, Touch, Increment and Decrement. It is
	// called in a goroutine of its own, which Close waits for, so it must not call
	// Close. What is still outstanding when Close is called is not reported.
	LateWrite func(LateWrite)

	// PoisonLeases is for tests: it finds leased values that are used after their
	// [Lease.Release]. Released memory is filled with bytes of 0xDB and never lent
	// again, so that whoever reads it sees them, and a write is found when 256 more
	// values or 64 MiB of them have been released, or in Close: Release or Close
	// panics then and names where the value had been released. It costs what leases
	// save, and those 64 MiB.
	PoisonLeases bool

	// DialContext connects to servers, for example through a proxy. Such
	// connections run on the poll engine, and must have working deadlines: they are what
	// ends a call. If nil, the engine's own.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// KeyPrefix is put in front of every key, for servers that are shared. It is a
	// part of the key: it counts for the length and for the choice of the server, and
	// calls return keys without it. Up to 115 bytes.
	KeyPrefix string

	// BinaryKeys lets keys have any bytes. Those with spaces or control characters
	// are sent as base64 and stored as they are (flag b of the meta commands), and
	// may have [MaxBinaryKeyLen] bytes. Without it such a key is refused with
	// [ErrKey], for it is a mistake more often than not.
	BinaryKeys bool

	// HashLongKeys lets keys be longer than memcached takes: a key that is too long
	// is stored under KeyPrefix, "sha256:" and the 64 hexadecimal digits of its
	// SHA-256. So is any key that begins with "sha256:" itself, whatever its length.
	HashLongKeys bool

	// TLS, if not nil, has connections speak TLS, on whichever engine, and above what
	// DialContext returns. It is called for each new connection with the server's
	// address as given to New, before it is made, so that all that is in the
	// configuration can change; it should not wait, and its error is that of the
	// calls that need the connection. [FixedTLS] is for a configuration that stays
	// the same, and [TLSFiles] reads certificates again when they change.
	//
	// The configuration is not changed. Its ServerName defaults to the server's host;
	// to a UNIX socket it must be given (or InsecureSkipVerify, which also lets an
	// impostor in). NextProtos, for ALPN, is left alone.
	//
	// A stored value that waits to be sent, as to a server that has stalled, is
	// encrypted already and can't be taken back: the Outcome of a call that ends then
	// is Unknown, where it would be NotSent without TLS.
	TLS func(server string) (*tls.Config, error)

	// Credentials, if not nil, authenticates connections to servers that were started
	// with -Y. It is called for each new connection, with the server's address as
	// given to New, once that server has demanded authentication, so that credentials
	// can change: new ones count for new connections. ctx ends with Config.DialTimeout
	// and with Close, which waits for it. Its error is that of the calls that need the
	// connection, with [ErrAuth], so it must not have a credential in its text.
	//
	// No request is sent on a connection before the server has accepted the
	// credential, which goes only to a server that has asked for one: another would
	// store it as an item. Without TLS it crosses the network readably.
	//
	// A connection to a server that demands none is not used, but see
	// AllowUnauthenticated. The user has no space or colon, and neither user nor
	// password a control character; memcached before 1.6.19 also takes no password
	// with a space.
	Credentials func(ctx context.Context, server string) (Credential, error)

	// AllowUnauthenticated has servers used all the same that demand no
	// authentication although there are Credentials, while a fleet is being switched
	// over: give the clients credentials with it, then start the servers with -Y, and
	// take it away again when ServerCounters.Unauthenticated rises no more. What it
	// gives up is to notice a server that lets everybody in.
	AllowUnauthenticated bool

	// Selector makes what spreads keys over servers. If nil, [Rendezvous].
	Selector func(servers []string) Selector
}

const (
	defaultTimeout    = time.Second
	defaultStallLimit = 10 * time.Second
	defaultMaxDebt    = 1024
	defaultSpare      = 126
	defaultReceive    = 64 << 10
	defaultSend       = 16 << 10
	procsPerRing      = 8
	maxRings          = 64
	maxConns          = 1024
)

func (c *Config) keyspace() keyspace { return keyspace{c.KeyPrefix, c.BinaryKeys, c.HashLongKeys} }

// withDefaults returns a copy with every zero replaced; durations and counts
// without bound become 0.
func (c *Config) withDefaults() (Config, error) {
	var out Config
	if c != nil {
		out = *c
	}
	switch {
	case out.Engine > Poll:
		return out, fmt.Errorf("%w: Engine is %d", ErrConfig, out.Engine)
	case out.Rings < 0 || out.Rings > maxRings:
		return out, fmt.Errorf("%w: Rings is %d, want 0 to %d", ErrConfig, out.Rings, maxRings)
	case out.ConnsPerServer < 0 || out.ConnsPerServer > maxConns:
		return out, fmt.Errorf("%w: ConnsPerServer is %d, want 0 to %d", ErrConfig, out.ConnsPerServer, maxConns)
	case out.SpareConns > maxConns:
		return out, fmt.Errorf("%w: SpareConns is %d, want at most %d", ErrConfig, out.SpareConns, maxConns)
	case out.Engine == URing && out.DialContext != nil:
		return out, fmt.Errorf("%w: connections of DialContext run on the poll engine, but Engine is URing", ErrConfig)
	}
	keys := out.keyspace()
	if err := keys.check(); err != nil {
		return out, err
	}
	if out.Rings == 0 {
		out.Rings = max(1, runtime.GOMAXPROCS(0)/procsPerRing)
	}
	if out.ConnsPerServer == 0 {
		out.ConnsPerServer = 2
		defaulted(&out.SpareConns, defaultSpare)
	}
	out.SpareConns = max(out.SpareConns, 0)
	defaulted(&out.OpTimeout, defaultTimeout)
	defaulted(&out.DialTimeout, defaultTimeout)
	defaulted(&out.StallLimit, defaultStallLimit)
	defaulted(&out.MaxDebt, defaultMaxDebt)
	defaulted(&out.DirectReceive, defaultReceive)
	defaulted(&out.DirectSend, defaultSend)
	return out, nil
}

func defaulted[T int | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	} else if *v < 0 {
		*v = 0
	}
}
