package client

import (
	"sync/atomic"

	"github.com/memring/memring/client/transport"
)

// Counters are totals since [New], for a service to export. They are always on;
// none costs a call more than an atomic addition.
type Counters struct {
	// What the engines count: system calls made for I/O, drivers that handed
	// their role on, bytes in and out, connections open now.
	transport.Counters

	Dials    uint64 // connections opened
	Losses   uint64 // connections that ended, for whatever reason
	Timeouts uint64 // calls that gave up by timeout or context
	Desyncs  uint64 // replies that did not match their request; must stay 0

	// Servers has the same by server, under its address as given to New.
	Servers map[string]ServerCounters
}

// ServerCounters are the totals of one server.
type ServerCounters struct {
	Dials       uint64 // connections opened
	FailedDials uint64 // attempts that failed, in the TLS handshake or authentication as well
	Timeouts    uint64 // requests given up after they had been sent
	LateReplies uint64 // replies to such requests, consumed and thrown away
	Drained     uint64 // bytes of values thrown away with them

	// Unauthenticated is how many of the connections opened were used although the
	// server demanded no authentication, see Config.AllowUnauthenticated.
	Unauthenticated uint64

	// Connections that ended, by cause.
	ClosedByServer uint64 // the server closed or reset it, or the network failed
	ClosedByStall  uint64 // nothing came for Config.StallLimit
	ClosedByDebt   uint64 // more than Config.MaxDebt replies were owed
	ClosedByDesync uint64 // a reply did not match
	ClosedByClose  uint64 // Client.Close
}

// serverCounters is where they are counted.
type serverCounters struct {
	dials, failedDials, unauthenticated, timeouts, lateReplies, drained atomic.Uint64
	closed                                                              [closeCauses]atomic.Uint64
}

// closeCause is why a connection has ended.
type closeCause uint8

const (
	closedByServer closeCause = iota
	closedStall
	closedDebt
	closedDesync
	closedClose
	closeCauses
)

func (s *serverCounters) load() ServerCounters {
	return ServerCounters{
		Dials: s.dials.Load(), FailedDials: s.failedDials.Load(),
		Unauthenticated: s.unauthenticated.Load(),
		Timeouts:        s.timeouts.Load(), LateReplies: s.lateReplies.Load(), Drained: s.drained.Load(),
		ClosedByServer: s.closed[closedByServer].Load(),
		ClosedByStall:  s.closed[closedStall].Load(),
		ClosedByDebt:   s.closed[closedDebt].Load(),
		ClosedByDesync: s.closed[closedDesync].Load(),
		ClosedByClose:  s.closed[closedClose].Load(),
	}
}

// Counters returns the client's totals.
func (cl *Client) Counters() Counters {
	if cl == nil {
		return Counters{}
	}
	n := Counters{Timeouts: cl.timeouts.Load(), Servers: make(map[string]ServerCounters, len(cl.servers))}
	for _, e := range cl.engines {
		c := e.Counters()
		n.Enters += c.Enters
		n.Handovers += c.Handovers
		n.BytesIn += c.BytesIn
		n.BytesOut += c.BytesOut
		n.Conns += c.Conns
	}
	for _, s := range cl.servers {
		c := s.counters.load()
		n.Servers[s.name] = c
		n.Dials += c.Dials
		n.Desyncs += c.ClosedByDesync
		n.Losses += c.ClosedByServer + c.ClosedByStall + c.ClosedByDebt + c.ClosedByDesync + c.ClosedByClose
	}
	return n
}
