package client_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// simLedger holds what the servers really answered, before it was falsified or
// delayed, and how many requests the callers may have sent. Requests go by a
// tag that tells operations apart as far as the protocol allows: stores by the
// id in their value, touches and increments by a number that only they use.
type simLedger struct {
	mu    sync.Mutex
	facts map[string][]simFact
	sent  map[string]int // requests that were not said to be NotSent
	told  map[string]int // requests whose answer was returned
}

// simFact is one answer.
type simFact struct {
	at     int64 // logical time, after it was carried out
	status string
	items  []simItem
}

type simItem struct {
	key, value string
	flags      uint32
	cas        uint64
	state      client.State
}

func newSimLedger() *simLedger {
	return &simLedger{facts: make(map[string][]simFact), sent: make(map[string]int), told: make(map[string]int)}
}

// simTag is the tag of a request as it came in. A damaged value is a problem.
func simTag(r memcachedtest.Request) (tag, problem string) {
	switch r.Command {
	case "mg":
		if ttl, ok := r.Flag('T'); ok {
			return "touch " + r.Key + " " + ttl, ""
		}
		if _, ok := r.Flag('v'); !ok {
			return "inspect " + r.Key, ""
		}
		return "get " + r.Key, ""
	case "ms":
		ids, problem := simRecords(r.Key, r.Body)
		if problem != "" {
			return "damaged", "a value " + problem + " when it reaches the server"
		}
		return fmt.Sprint("store ", ids[0]), ""
	case "ma":
		delta, _ := r.Flag('D')
		return "add " + r.Key + " " + delta, ""
	case "md":
		if _, ok := r.Flag('I'); ok {
			return "invalidate " + r.Key, ""
		}
		return "delete " + r.Key, ""
	}
	return r.Line, "" // gets, mn
}

// add records an answer.
func (l *simLedger) add(tag string, at int64, reply []byte) {
	f := simParse(reply)
	f.at = at
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts[tag] = append(l.facts[tag], f)
}

// spoil says that the answer given at that time was falsified such that it must
// never be handed out.
func (l *simLedger) spoil(tag string, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.facts[tag] {
		if f := &l.facts[tag][i]; f.at == at {
			f.status, f.items = "spoiled", nil
		}
	}
}

// simParse reads a true reply, of which only the in-process server is the
// author.
func simParse(reply []byte) (f simFact) {
	for {
		line, rest, ok := bytes.Cut(reply, []byte("\r\n"))
		words := strings.Fields(string(line))
		if !ok || len(words) == 0 {
			return f
		}
		f.status = words[0]
		var it simItem
		var size int
		switch words[0] {
		case "HD":
			f.items = []simItem{simFlags(words[1:])}
			return f
		case "VA":
			size, _ = strconv.Atoi(words[1])
			it = simFlags(words[2:])
		case "VALUE":
			it = simItem{key: words[1], flags: simNumber[uint32](words[2]), cas: simNumber[uint64](words[4])}
			size, _ = strconv.Atoi(words[3])
		case "SERVER_ERROR":
			f.status = string(line)
			return f
		default:
			return f
		}
		it.value = string(rest[:size])
		f.items = append(f.items, it)
		if words[0] == "VA" {
			return f
		}
		reply = rest[size+2:]
	}
}

// simFlags reads the flags of a meta reply.
func simFlags(words []string) (it simItem) {
	for _, w := range words {
		switch w[0] {
		case 'k':
			it.key = w[1:]
		case 'f':
			it.flags = simNumber[uint32](w[1:])
		case 'c':
			it.cas = simNumber[uint64](w[1:])
		case 'W':
			it.state |= client.Won
		case 'X':
			it.state |= client.Stale
		case 'Z':
			it.state |= client.Claimed
		}
	}
	return it
}

func simNumber[T uint32 | uint64](s string) T {
	n, _ := strconv.ParseUint(s, 10, 64)
	return T(n)
}

// match reports whether an answer to tag since then fits.
func (l *simLedger) match(tag string, since int64, fits func(simFact) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.facts[tag] {
		if f.at > since && fits(f) {
			return true
		}
	}
	return false
}

// count notes what a call said of its request.
func (l *simLedger) count(tag string, sent, told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sent {
		l.sent[tag]++
	}
	if told {
		l.told[tag]++
	}
}

// audit compares both sides at the end: no request that was NotSent, or that
// was made once, may have arrived after all, or twice; and, unless replies were
// forged, none can be answered that has not arrived.
func (l *simLedger) audit(forged bool, report func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tag, facts := range l.facts {
		if tag == "version" {
			continue // asked whenever it is needed
		}
		if len(facts) > l.sent[tag] {
			report(fmt.Sprintf("%.40q: %d sent, but the server got %d", tag, l.sent[tag], len(facts)))
		}
	}
	for tag, n := range l.told {
		if !forged && n > len(l.facts[tag]) {
			report(fmt.Sprintf("%.40q: %d answers were returned, but the server got %d requests", tag, n, len(l.facts[tag])))
		}
	}
}
