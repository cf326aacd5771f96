package cases

import "time"

// Names of the cases of the small groups.
const (
	NameLimit        = "limit-get-1KiB"
	NameLeases       = "leases-get"
	NameTypedGet     = "typed-get"
	NameTypedSet     = "typed-set"
	NameBatchSet     = "batch-set"
	NameBatchBoth    = "batch-set-and-delete"
	NameBatchLone    = "batch-lone-get"
	NameBatchBeside  = "batch-lone-get-beside"
	batchKeys        = 1000
	besideItems      = 20_000
	NameHandOver     = "queue-handover"
	NameRecoveryGet  = "recovery-get-1KiB"
	NameRecovery40   = "recovery-multiget-40x100B"
	NameService      = "service-get-1KiB"
	NameForeignGet   = "foreign-get-1KiB"
	foreignSlice     = time.Second // memaslap counts seconds
	serviceSlice     = 2 * time.Second
	fewSlowRounds    = 3
	handOversStretch = 0.3
	NameIdle         = "idle-conns"
	idleConns        = 10000
	idleSlice        = 10 * time.Second // what it takes, about
)

// limit measures how far memring is from what the kernel allows a lone caller.
func limit() []Case {
	return []Case{{
		Name: NameLimit, Group: GroupLimit, Network: "unix", Callers: 1, Op: GetReused, Size: 1024,
		Clients: []Client{URing, Poll, BareReadWrite, BareRing}, Baseline: BareRing,
	}}
}

// recovery measures what it costs to be able to keep a connection after a timeout, and to prove each
// reply: the same client is built without.
func recovery() []Case {
	all := []Case{
		{Name: NameRecoveryGet, Callers: 1, Op: GetReused, Size: 1024},
		{Name: NameRecoveryGet, Callers: 64, Op: GetReused, Size: 1024},
		{Name: NameRecovery40, Callers: 1, Op: MultiGet, Keys: 40, Size: 100},
	}
	for i := range all {
		c := &all[i]
		c.Group, c.Network = GroupRecovery, "unix"
		c.Clients, c.Baseline = []Client{URing, URingUnchecked}, URingUnchecked
	}
	return all
}

// leases measures what the ways to have a large value cost a lone caller: in fresh memory, in a slice that is
// used again, lent and given back.
func leases() []Case {
	var all []Case
	for _, size := range []int{64 << 10, 1 << 20} {
		all = append(all, Case{
			Name: NameLeases, Group: GroupLeases, Param: float64(size), Unit: "bytes",
			Network: "unix", Callers: 1, Op: Get, Size: size,
			Clients: []Client{URing, URingAppend, URingLease}, Baseline: URing, MaxRounds: 5, Stretch: 0.3,
		})
	}
	return all
}

// typedValues measures what it costs to have values of a Go type: the same client stores and gets as many bytes
// without, with a codec that has nothing to do, with JSON, and with JSON that is compressed.
func typedValues() []Case {
	var all []Case
	for _, c := range []Case{{Name: NameTypedGet, Op: Get}, {Name: NameTypedSet, Op: Set}} {
		for _, size := range []int{1 << 10, 16 << 10, 256 << 10} {
			c.Group, c.Param, c.Unit = GroupTyped, float64(size), "bytes"
			c.Network, c.Callers, c.Size = "unix", 1, size
			c.Clients, c.Baseline = []Client{URing, URingTypedBytes, URingTypedJSON, URingTypedGzip}, URing
			c.MaxRounds, c.Stretch, c.MaxCounts = 5, 0.3, 1
			all = append(all, c)
		}
	}
	return all
}

// batches measures what a batch of many items takes against a loop, and what a lone get waits beside a caller that
// stores one huge batch after the other.
func batches() []Case {
	var all []Case
	add := func(c Case) {
		c.Group, c.Network, c.Callers, c.MaxRounds = GroupBatch, "unix", 1, 5
		all = append(all, c)
	}
	for _, size := range []int{100, 1 << 10} {
		loops := Case{Keys: batchKeys, Size: size, Param: float64(size), Unit: "bytes", Clients: []Client{URing, URingLoop, Poll, GoMemcache}, Baseline: URingLoop}
		loops.Name, loops.Op = NameBatchSet, SetMulti
		add(loops)
		loops.Name, loops.Op = NameBatchBoth, SetDelete
		add(loops)
	}
	lone := Case{Op: GetReused, Size: 1024, Clients: []Client{URing, Poll}}
	lone.Name = NameBatchLone
	add(lone)
	lone.Name, lone.Beside = NameBatchBeside, besideItems
	add(lone)
	return all
}

// handOvers measures how callers hand requests over and are woken, without any I/O.
func handOvers() []Case {
	var all []Case
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		all = append(all, Case{
			Name: NameHandOver, Group: GroupQueue, Param: float64(n), Unit: "callers",
			Network: NoNetwork, Callers: n, Op: HandOver,
			Clients: []Client{HandOverHerd, HandOverChannel, HandOverCond}, MaxRounds: 7, Stretch: handOversStretch,
		})
	}
	return all
}

// services measures an HTTP service that gets one value for each request, driven by wrk.
func services() []Case {
	var all []Case
	for _, n := range []int{1, 64} {
		all = append(all, Case{
			Name: NameService, Group: GroupService, Param: float64(n), Unit: "callers",
			Network: "unix", Callers: n, Op: Serve, Size: 1024,
			Clients: []Client{URing, Poll, GoMemcache}, MaxRounds: fewSlowRounds, Slice: serviceSlice,
		})
	}
	return all
}

// foreign compares with memaslap, the load generator that comes with libmemcached. It is written in C,
// dials TCP only, and tells its throughput alone.
func foreign() []Case {
	var all []Case
	for _, n := range []int{1, 8, 64} {
		all = append(all, Case{
			Name: NameForeignGet, Group: GroupForeign, Param: float64(n), Unit: "callers",
			Network: "tcp", Callers: n, Op: GetReused, Size: 1024,
			Clients: []Client{URing, Poll, Memaslap}, MaxRounds: fewSlowRounds, Slice: foreignSlice,
		})
	}
	return all
}

// idle measures what connections cost that nobody uses any more. So its callers are of no account.
func idle() []Case {
	return []Case{{
		Name: NameIdle, Group: GroupIdle, Param: idleConns, Unit: "connections", Conns: idleConns,
		Network: "unix", Callers: 1, Op: Idle, Size: 1024,
		Clients: []Client{URing, URingPlain, Poll}, MaxRounds: 1, Slice: idleSlice,
	}}
}
