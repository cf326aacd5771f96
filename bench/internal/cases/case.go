// Package cases says what is measured: the cases, the clients, and the keys and values they use.
package cases

import (
	"fmt"
	"time"
)

// Op is what one measured operation does.
type Op string

// The operations.
const (
	Get       Op = "get"       // one key, the value in a fresh slice
	GetAppend Op = "getappend" // one key, the value appended to a slice the caller reuses
	GetReused Op = "getreused" // GetAppend by the clients that have it, Get by the others
	GetLease  Op = "getlease"  // one key, the value lent and given back
	Set       Op = "set"       // one key
	HandOver  Op = "handover"  // no key at all: a request that is handed over and done at once
	Serve     Op = "serve"     // an HTTP request that leads to a Get
	MultiGet  Op = "multiget"  // Case.Keys keys in one call
	GetTyped  Op = "gettyped"  // one key, the value decoded to a Go type
	SetTyped  Op = "settyped"  // one key, the value encoded from a Go type
	SetMulti  Op = "setmulti"  // Case.Keys keys in one call by the clients that have it, in a loop by the others
	SetDelete Op = "setdelete" // SetMulti, and then the same keys are deleted likewise
	SetLoop   Op = "setloop"   // SetMulti and SetDelete as a loop, by all clients
	LoopBoth  Op = "loopboth"
	MultiLent Op = "multilent" // MultiGet, each value lent and given back by the clients that can
	Idle      Op = "idle"      // none: Case.Conns connections that nobody uses any more
)

// Client is one competitor: a library and, for memring, its engine.
type Client struct {
	Name   string // memring, gomemcache, grafana, go-memcache
	Engine string // uring, uring-plain, poll or gomemcache-api; empty for the peers
}

func (c Client) String() string {
	if c.Engine == "" {
		return c.Name
	}
	return c.Name + "-" + c.Engine
}

// The competitors.
var (
	URing      = Client{"memring", "uring"}
	URingPlain = Client{"memring", "uring-plain"} // bound by RLIMIT_MEMLOCK: its receive buffers not registered
	Poll       = Client{"memring", "poll"}
	GoMemcache = Client{Name: "gomemcache"}
	Adapter    = Client{"memring", "gomemcache-api"} // client/gomemcache, on io_uring
	Grafana    = Client{Name: "grafana"}             // its fork of gomemcache
	Pipelining = Client{Name: "go-memcache"}
)

// What is measured beside clients.
var (
	URingUnchecked  = Client{"memring", "uring-unchecked"}   // built without what recovery needs
	URingCopy       = Client{"memring", "uring-copy"}        // that copies every value, on the way in and out
	URingRef        = Client{"memring", "uring-ref"}         // that avoids it for every value, however small
	URingAppend     = Client{"memring", "uring-append"}      // URing whose gets are GetAppend, see Case.OpOf
	URingLease      = Client{"memring", "uring-lease"}       // and GetLease
	URingLoop       = Client{"memring", "uring-loop"}        // and what batches do, in a loop
	URingTypedBytes = Client{"memring", "uring-typed-bytes"} // by way of client/typed, with each of these codecs
	URingTypedJSON  = Client{"memring", "uring-typed-json"}
	URingTypedGzip  = Client{"memring", "uring-typed-json-gzip"} // and a compressor
	BareReadWrite   = Client{"bare", "read+write"}               // see package limit
	BareRing        = Client{"bare", "uring"}
	HandOverHerd    = Client{"memring", "handover"} // see package queue
	HandOverChannel = Client{Name: "channel"}
	HandOverCond    = Client{Name: "mutex+cond"}
	Memaslap        = Client{Name: "memaslap"} // a program of its own
)

// NoNetwork is the network of cases without a server.
const NoNetwork = "none"

// Case is one set-up in which all clients are compared.
type Case struct {
	Name    string
	Network string // unix, tcp or none
	Callers int    // goroutines that issue operations, each waiting for its reply
	Op      Op
	Keys    int           // per operation, for MultiGet and batches
	Size    int           // bytes in a value
	Delay   time.Duration // zero: real memcached; else the stand-in that answers after Delay
	Faults  Faults        // of the stand-in
	Clients []Client

	Group string  // which part of the report it belongs to; empty: the main table
	Param float64 // what differs between the cases of one name, in Unit
	Unit  string

	Baseline Client // one of Clients, if the others' CPU time is to be held against it

	Deadline time.Duration // of each call; zero: long enough for any. Calls that fail are counted then
	Conns    int           // connections of the clients that share them; zero: as the whole run
	Rate     float64       // requests a second of all callers together, come what may; zero: each waits for its reply
	Tick     time.Duration // also record how throughput, errors and connections went, so finely

	Beside int // items of batches that another goroutine stores all the while; they are no operations

	Bystander bool          // also time a goroutine that wakes every millisecond
	Procs     int           // GOMAXPROCS of the client process; zero: as the whole run
	MaxRounds int           // zero: as many as the run has
	MaxCounts int           // turns with the kernel's counter; zero: as many as the run has
	Stretch   float64       // length of a slice against the run's; zero: 1
	Slice     time.Duration // length of a slice, whatever the run's; zero: see Stretch
}

// Faults are what the stand-in does to replies, beyond delaying each by the same time. The replies of one
// connection stay in order, as memcached's do: those behind a late one wait for it.
type Faults struct {
	OneIn   int           // of so many gets, counted over all connections, the last is answered late; 0: none
	Late    time.Duration // how late
	Stall   time.Duration // for so long no reply is sent on any connection, once in each slice; 0: never
	StallAt time.Duration // when, from the slice's beginning
}

// Writes reports whether the case stores values of its own.
func (c Case) Writes() bool { return c.Op == Set || c.Op == SetMulti || c.Op == SetDelete }

// OpOf is what a client does in the case: a few stand for one way of doing it.
func (c Case) OpOf(client Client) Op {
	switch client {
	case URingAppend:
		return GetAppend
	case URingLease:
		return GetLease
	case URingLoop:
		if c.Op == SetDelete {
			return LoopBoth
		}
		return SetLoop
	case URingTypedJSON, URingTypedGzip:
		if c.Op == Set {
			return SetTyped
		}
		return GetTyped
	}
	return c.Op
}

// ID names the case in flags and messages.
func (c Case) ID() string { return fmt.Sprintf("%s/%s/%d", c.named(), c.Network, c.Callers) }

// named tells apart the cases that differ in Param.
func (c Case) named() string {
	if c.Unit == "bytes" {
		return c.Name + "-" + sizeName(c.Size)
	}
	return c.Name
}

// Title names the case in the table.
func (c Case) Title() string {
	callers := "callers"
	if c.Callers == 1 {
		callers = "caller"
	}
	title := fmt.Sprintf("%s · %s · %d %s", c.named(), c.Network, c.Callers, callers)
	if c.Rate > 0 {
		title += fmt.Sprintf(" · %.0f requests/s", c.Rate)
	}
	return title
}
