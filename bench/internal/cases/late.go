package cases

import (
	"slices"
	"time"
)

// Names of the cases in which replies are late.
const (
	NameLate      = "late-1pct"
	NameLateConns = "late-1pct-64conns"
	NameLateRate  = "late-1pct-2000rps"
	NameStall     = "late-stall-200ms"
)

// What these cases have in common: a request that is answered lateBy too late has long been given up,
// and its caller has gone on.
const (
	lateBy       = 200 * time.Millisecond
	lateDeadline = 50 * time.Millisecond
	lateCallers  = 64
	lateTick     = 100 * time.Millisecond
	lateRate     = 2000
)

// late are the cases in which the server is late now and then: a timeout must cost the call, but neither
// the connection nor anybody else's reply. The stand-in answers each get after SlowServer, as a network
// would, and besides
//
//   - answers one get of a hundred 200 ms late. Replies of one connection stay in order, so those of
//     other callers who share it wait as well; a client with a connection for each caller doesn't have
//     that, and pays with a new connection for each timeout. memring runs with its default number of
//     connections, and its spare ones, and, in cases of their own, with as many as the others have. Where requests come as fast
//     as replies do, the faster client meets more late ones: hence also a case with a fixed rate.
//   - or falls silent as a whole for 200 ms, once in each slice.
func late(quick bool) []Case {
	slice, rounds := 2*time.Second, 3
	if quick {
		slice, rounds = time.Second, 1
	}
	onePercent := Faults{OneIn: 100, Late: lateBy}
	all := []Case{
		{Name: NameLate, Faults: onePercent},
		{Name: NameLateConns, Faults: onePercent, Conns: lateCallers},
		{Name: NameLateRate, Faults: onePercent, Conns: lateCallers, Rate: lateRate},
		{Name: NameStall, Faults: Faults{Stall: lateBy, StallAt: 400 * time.Millisecond}},
	}
	if quick {
		all = slices.DeleteFunc(all, func(c Case) bool { return c.Conns > 0 })
	}
	for i := range all {
		c := &all[i]
		c.Group = GroupLate
		c.Network, c.Callers, c.Op, c.Size, c.Delay = "unix", lateCallers, Get, 1024, SlowServer
		c.Deadline, c.Tick = lateDeadline, lateTick
		c.Clients = []Client{URing, Poll, GoMemcache}
		c.Slice, c.MaxRounds = slice, rounds
	}
	return all
}
