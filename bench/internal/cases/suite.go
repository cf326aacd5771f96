package cases

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Names of the cases that targets refer to.
const (
	NameGet       = "get-1KiB"
	NameGetSlow   = "get-1KiB-150us"
	NameGetAppend = "getappend-1KiB"
	NameSet       = "set-1KiB"
	NameBystander = "bystander"
)

// SlowServer is the delay of the stand-in that plays a real network: loopback alone flatters.
const SlowServer = 150 * time.Microsecond

// Suite lists the cases in the order they run and print, group by group. Grafana's fork differs from
// gomemcache in little, and memring's adapter to gomemcache's API from memring: they run in the plainest
// cases on the UNIX socket alone.
//
// The quick suite has the main table and two cases of late replies, and nobody's fork or adapter. It has no sets,
// multi-gets or slow server over TCP, and watches the bystander in one set-up only.
func Suite(quick bool) []Case {
	var all []Case
	for _, network := range []string{"unix", "tcp"} {
		everyone := []Client{URing, Poll, GoMemcache}
		withFork := append(slices.Clone(everyone), Grafana, Adapter)
		if quick {
			withFork = everyone
		}
		if network == "tcp" {
			everyone = append(everyone, Pipelining) // it dials nothing but TCP
			withFork = everyone
		}
		short := quick && network == "tcp"
		add := func(c Case) {
			c.Network = network
			if c.Clients == nil {
				c.Clients = everyone
			}
			all = append(all, c)
		}
		for _, n := range []int{1, 8, 64, 512} {
			add(Case{Name: NameGet, Callers: n, Op: Get, Size: 1024, Clients: withFork})
		}
		if short {
			continue
		}
		for _, n := range []int{1, 8} {
			add(Case{Name: NameGetSlow, Callers: n, Op: Get, Size: 1024, Delay: SlowServer})
		}
		if network == "unix" {
			for _, n := range []int{1, 64} {
				add(Case{Name: NameGetAppend, Callers: n, Op: GetAppend, Size: 1024, Clients: []Client{URing, Poll}})
			}
		}
		for _, n := range []int{1, 64} {
			add(Case{Name: NameSet, Callers: n, Op: Set, Size: 1024, Clients: withFork})
		}
		add(Case{Name: "multiget-40x100B", Callers: 1, Op: MultiGet, Keys: 40, Size: 100})
		add(Case{Name: "multiget-40x4KiB", Callers: 1, Op: MultiGet, Keys: 40, Size: 4096, Clients: withFork})
	}
	all = slices.Concat(all, bystanders(quick), late(quick))
	if quick {
		return all
	}
	return slices.Concat(all, seeds(), sizes(), leases(), typedValues(), batches(), handOvers(), services(), limit(), recovery(), foreign(), idle())
}

// bystanders watch an unrelated goroutine while callers wait: a caller that blocks in the kernel
// holds a P until the runtime takes it away, and that must not cost others their turn.
func bystanders(quick bool) []Case {
	procs, delays, callers := []int{1, 2, 16}, []time.Duration{SlowServer, 5 * time.Millisecond}, []int{1, 8}
	if quick {
		procs, delays, callers = []int{2}, delays[:1], callers[1:]
	}
	var all []Case
	for _, p := range procs {
		for _, d := range delays {
			for _, n := range callers {
				all = append(all, Case{
					Name:    fmt.Sprintf("%s-%s-gomaxprocs%d", NameBystander, delayName(d), p),
					Network: "unix", Callers: n, Op: Get, Size: 1024, Delay: d,
					Clients: []Client{URing, Poll}, Bystander: true, Procs: p, MaxRounds: 3, Stretch: 1.7,
				})
			}
		}
	}
	return all
}

func delayName(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%dus", d.Microseconds())
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// Select keeps the cases whose ID and the clients whose name match. Nil matches everything.
func Select(all []Case, cases, clients *regexp.Regexp) []Case {
	var kept []Case
	for _, c := range all {
		if cases != nil && !cases.MatchString(c.ID()) {
			continue
		}
		if clients != nil {
			c.Clients = slices.DeleteFunc(slices.Clone(c.Clients), func(cl Client) bool { return !clients.MatchString(cl.String()) })
		}
		if len(c.Clients) > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// WithoutGroup drops the cases of a group.
func WithoutGroup(all []Case, gone string) []Case {
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool { return c.Group == gone })
}

// AtRate gives all cases a fixed rate.
func AtRate(all []Case, rate float64) {
	for i := range all {
		all[i].Rate = rate
	}
}

// Without drops a client from every case.
func Without(all []Case, gone Client) []Case {
	var kept []Case
	for _, c := range all {
		c.Clients = slices.DeleteFunc(slices.Clone(c.Clients), func(cl Client) bool { return cl == gone })
		if len(c.Clients) > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}
