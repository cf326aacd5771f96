package cases

import (
	"fmt"
	"slices"
)

// remarks say how the clients of a group are set up, where that isn't plain.
var remarks = map[string]string{
	GroupLate: fmt.Sprintf("late: %d callers; every client gives each call %s (memring: OpTimeout; gomemcache: Timeout); "+
		"memring shares its default of 2 connections, and opens up to 126 spare ones while calls time out (SpareConns), or has %d in the cases that say so and at a fixed rate; gomemcache keeps up to %d idle "+
		"(MaxIdleConns); replies of one connection stay in order, so those behind a late one are late", lateCallers, lateDeadline, lateCallers, lateCallers+1),
	GroupSeeds: "seeds: memory is used again where the client can: single values go to one slice (memring's GetAppend), " +
		"those of multi-gets of 12 KiB and more are lent and each given back once it was checked (GetMultiLease, Release); gomemcache takes fresh memory for all; " +
		"memring-uring-plain is kept from registering its buffers by RLIMIT_MEMLOCK; " +
		"sysc/op is the kernel's count, in which Go's runtime takes part (futex and others), and judged; enters/op is memring's own, of calls for I/O",
	GroupSizes: "sizes: memring-uring-copy never sends a value from where it is nor receives one into place (DirectSend and DirectReceive -1), " +
		"memring-uring-ref does so with every value (both 1), and has rows only where memring-uring copies and it is close",
	GroupLeases: "leases: the same client and the same gets; memring-uring takes each value in a fresh slice (Get), -append in one slice again and again (GetAppend), -lease as one that is lent and given back (GetLease, Release)",
	GroupBatch: "batch: an operation of -set and -set-and-delete is 1,000 items, in one call by the clients that have it; memring-uring-loop and gomemcache make a call for each. " +
		"-lone-get-beside is the gets of one caller while another stores batches of 20,000 items, which are no operations; -lone-get is the same without.",
	GroupTyped: "typed: the same client throughout; memring-uring is Get and Set of bytes, -typed-bytes the same by way of client/typed with its codec Bytes, " +
		"whose CPU against memring-uring's is the typed cache's own; -typed-json decodes or encodes a document of as many bytes, and -typed-json-gzip compresses it, " +
		"so that fewer bytes go to the server and come from it: there the CPU is that of encoding/json and compress/gzip above all",
	GroupService:  "service: net/http, one Get a request, driven by wrk with one thread on the same cores; CPU is the service's alone",
	GroupLimit:    "limit: bare loops are no clients: one request at a time, nothing checked, errors are final",
	GroupRecovery: "recovery: memring-uring-unchecked is this checkout built without opaque numbers, keys in replies, tombstones and taking back; it is safe only while nothing is late or wrong",
	GroupForeign:  "foreign: memaslap, of libmemcached, is another language's client: in C, TCP only, with values of its own, and of its figures only the throughput can be compared",
	GroupIdle:     "idle: each connection has stored 100 KiB, got it, and been left alone; shares are what all have added, after a collection; memring-uring-plain runs as a user's program would, bound by RLIMIT_MEMLOCK: the connections that do not fit receive without registered buffers; slab is the whole machine's, the server's ends included",
}

// remarkPipelining explains why a client that takes part is missing from some rows.
const remarkPipelining = "go-memcache dials TCP only: it has no rows on the UNIX socket, and is compared over TCP"

// Remarks returns those on the groups and clients of these cases.
func Remarks(all []Case) []string {
	var out []string
	if slices.ContainsFunc(all, func(c Case) bool { return slices.Contains(c.Clients, Pipelining) }) &&
		slices.ContainsFunc(all, func(c Case) bool { return c.Network == "unix" }) {
		out = append(out, remarkPipelining)
	}
	for _, group := range Groups {
		if text, ok := remarks[group]; ok && slices.ContainsFunc(all, func(c Case) bool { return c.Group == group }) {
			out = append(out, text)
		}
	}
	return out
}
