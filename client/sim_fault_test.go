package client_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/memring/memring/client/memcachedtest"
)

// simServer is one server of a simulation and the network before it.
type simServer struct {
	*memcachedtest.Server
	s      *sim
	i      int
	dialed int // guarded by s.mu
}

func newSimServer(s *sim, i int) (*simServer, error) {
	v := &simServer{s: s, i: i}
	var err error
	v.Server, err = memcachedtest.RunServer(memcachedtest.ServerOptions{
		Network: "none", Script: v.script, RecordLimit: -1, OnConnect: v.greet, Version: s.version(),
	})
	return v, err
}

// dial connects, or not.
func (v *simServer) dial(ctx context.Context) (net.Conn, error) {
	v.s.mu.Lock()
	v.dialed++
	r := simRand(v.s.seed, simForConn, uint64(v.i), uint64(v.dialed))
	v.s.mu.Unlock()
	if v.s.calm.Load() {
		return v.connect(simPipe{room: 1 << 16, back: 1 << 16, grain: 1 << 16}), nil
	}
	var wait <-chan time.Time
	if v.s.level >= simSlow && r.IntN(3) == 0 {
		wait = time.After(simSpan(r, v.s.slowness))
	}
	if v.s.level >= simLossy && r.Float64() < v.s.rate {
		if r.IntN(2) == 0 {
			return nil, &net.OpError{Op: "dial", Net: "sim", Err: syscall.ECONNREFUSED}
		}
		wait = make(chan time.Time) // a host that is gone
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	pipe := simPipe{
		room:   simPick(r, 16, 200, 4096, 1<<16),
		grain:  simPick(r, 1, 3, 20, 1<<16, 1<<16),
		resets: r.IntN(2) == 0,
	}
	if v.s.pad > 1<<14 {
		pipe.room, pipe.grain = 1<<16, 1<<16
	}
	pipe.back = pipe.room
	if v.s.level == simHostile {
		pipe.back = 1 << 30 // the scripted server's late replies wait in a mutex, which would stop virtual time
	}
	if v.s.level >= simSlow && v.s.lag > 0 {
		pipe.lag = func() {
			if r.Float64() < v.s.lag && !v.s.calm.Load() {
				time.Sleep(simSpan(r, v.s.slowness))
			}
		}
	}
	return v.connect(pipe), nil
}

func (v *simServer) connect(p simPipe) net.Conn {
	client, server := p.ends()
	v.Serve(server)
	return client
}

// greet makes some connections useless from the start.
func (v *simServer) greet(conn int) memcachedtest.ConnAction {
	r := simRand(v.s.seed, simForConn, uint64(v.i)+100, uint64(conn))
	if v.s.level < simLossy || v.s.calm.Load() || r.Float64() > v.s.rate/2 {
		return memcachedtest.ConnServe
	}
	return simPick(r, memcachedtest.ConnDeaf, memcachedtest.ConnClose, memcachedtest.ConnReset)
}

// script decides on a request by the seed and its place alone.
func (v *simServer) script(req memcachedtest.Request) memcachedtest.Action {
	tag, problem := simTag(req)
	if problem != "" {
		v.s.wrong("%s", problem)
	}
	var at int64
	record := func(reply []byte) []byte {
		at = v.s.tick()
		v.s.ledger.add(tag, at, reply)
		return reply
	}
	r := simRand(v.s.seed, simForRequest, uint64(v.i)<<16^uint64(req.Conn), uint64(req.Seq))
	if v.s.level == simClean || v.s.calm.Load() || r.Float64() > v.s.rate {
		return memcachedtest.Answer().Edit(record)
	}
	a := memcachedtest.Answer().Edit(record)
	switch kind := r.IntN(2 + 3*int(v.s.level)); {
	case kind < 5:
		return v.slow(r, req, a)
	case kind < 8:
		a = v.lossy(r, req, record)
	default:
		a = v.hostile(r, req, func() { v.s.ledger.spoil(tag, at) }, a)
	}
	if r.IntN(3) == 0 && v.chunky(req) {
		a = a.Chunks(1+r.IntN(9), 1+r.IntN(40), 1<<20).Gap(simSpan(r, v.s.slowness))
	}
	return a
}

// chunky says whether a connection's replies are written in pieces with gaps.
// On others they may be late. Both together would put one reply into another,
// which can come out as anything.
func (v *simServer) chunky(req memcachedtest.Request) bool {
	return v.s.level < simHostile || req.Conn%2 == 0
}

// slow makes a reply late or split.
func (v *simServer) slow(r *rand.Rand, req memcachedtest.Request, a memcachedtest.Action) memcachedtest.Action {
	kind := r.IntN(4)
	if !v.chunky(req) {
		kind = 0
	}
	switch kind {
	case 0:
		return a.Delay(simSpan(r, 2*v.s.slowness))
	case 1:
		release := make(chan struct{})
		time.AfterFunc(simSpan(r, 4*v.s.slowness), func() { close(release) })
		return a.StallAt(r.IntN(60), release)
	case 2:
		return a.Chunks(1+r.IntN(9), 1+r.IntN(40), 1+r.IntN(9), 1<<20).Gap(simSpan(r, v.s.slowness))
	}
	return a.Chunks(1+r.IntN(5), 1+r.IntN(20))
}

// lossy breaks the connection or refuses the request.
func (v *simServer) lossy(r *rand.Rand, req memcachedtest.Request, record func([]byte) []byte) memcachedtest.Action {
	a := memcachedtest.Answer().Edit(record)
	end := func(a memcachedtest.Action) memcachedtest.Action {
		switch r.IntN(3) {
		case 0:
			return a.Close()
		case 1:
			return a.HalfClose()
		}
		return a.Reset()
	}
	switch r.IntN(6) {
	case 0:
		return a.StallAt(r.IntN(60), nil)
	case 1:
		return memcachedtest.Answer().Unexecuted().Instead(nil).Edit(record).Stall(nil)
	case 2:
		return end(a.CutAt(r.IntN(80)))
	case 3:
		return end(a)
	}
	if req.Command == "mn" {
		return a // which is never refused: it could be taken for one of a run that it ends
	}
	return memcachedtest.ErrorLine("SERVER_ERROR out of memory storing object").Edit(record)
}

// hostile forges a reply.
func (v *simServer) hostile(r *rand.Rand, req memcachedtest.Request, spoil func(), a memcachedtest.Action) memcachedtest.Action {
	v.s.forged.Add(1)
	instead := func(text string) memcachedtest.Action {
		return a.Edit(func([]byte) []byte { return []byte(text) })
	}
	// certainly is for faults that the client must notice, whatever follows.
	certainly := func(fault func(memcachedtest.Action) memcachedtest.Action) memcachedtest.Action {
		var before []byte
		a := fault(a.Edit(func(b []byte) []byte { before = bytes.Clone(b); return b }))
		return a.Edit(func(b []byte) []byte {
			if !bytes.Equal(b, before) {
				spoil()
			}
			return b
		})
	}
	cut := 1 + r.IntN(3)
	kind := r.IntN(11)
	if kind == 3 && v.chunky(req) {
		kind = 2
	}
	switch kind {
	case 0:
		return instead("")
	case 1:
		return a.Twice()
	case 2:
		return a.Swap()
	case 3:
		return a.Late(simSpan(r, v.s.slowness))
	case 4:
		return certainly(memcachedtest.Action.WrongOpaque)
	case 5:
		return certainly(memcachedtest.Action.WrongKey)
	case 6:
		return certainly(func(a memcachedtest.Action) memcachedtest.Action {
			return a.Edit(func(b []byte) []byte { return simNibble(b, cut) })
		})
	case 7:
		return a.Truncate(-1 - r.IntN(3))
	case 8:
		return instead(simPick(r, "ERROR\r\n", "CLIENT_ERROR bad command line format\r\n", "OK\r\n", "HD\r\n", "VA 3\r\nabc\r\n", "\n", "SERVER_ERROR"+strings.Repeat(" much", 2000)))
	}
	if kind == 9 {
		return certainly(func(a memcachedtest.Action) memcachedtest.Action {
			return a.Edit(func(b []byte) []byte { return simMisstate(req.Command, b) })
		})
	}
	return instead("\x01garbage \xff VA 1 HD\r\n")
}

// simMisstate gives a reply a status that the request cannot have: a hit without
// its value, a store that has missed.
func simMisstate(command string, b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\r\n"))
	status, flags, _ := bytes.Cut(line, []byte(" "))
	forge := func(status string) []byte { return append(append([]byte(status+" "), flags...), "\r\n"...) }
	switch {
	case string(status) == "VA":
		_, flags, _ = bytes.Cut(flags, []byte(" ")) // behind the size
		return forge("HD")
	case string(status) == "HD" && command == "ms":
		return forge("EN")
	case string(status) == "HD":
		return forge("NS")
	}
	return b
}

// simNibble takes up to three bytes off the end of a reply's first value. More
// could swallow a whole reply that follows, which nobody could tell.
func simNibble(b []byte, n int) []byte {
	head, value, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(value) == 0 {
		return b
	}
	f := simParse(b)
	end := len(head) + 2 + len(f.items[0].value)
	return append(b[:end-n], b[end:]...)
}
