package memcachedtest

import (
	"fmt"
	"strconv"
	"strings"
)

// metaFlags is what memcached's _meta_flag_preparse makes of a meta command's
// flags, with the expiry times still as sent.
type metaFlags struct {
	list                    []string // as sent
	key                     string   // decoded
	binary                  bool
	value, quiet, noUpdate  bool
	vivify, invalidate      bool
	hasCAS, hasTTL          bool
	mode                    byte
	ttl, vivifyTTL, recache int32
	clientFlags             uint32
	cas, delta, initial     uint64
	chosen                  *uint64 // E
	dropValue               bool
}

// parseMeta reads the flags of a meta command. A non-empty problem is the error
// line to answer with.
func parseMeta(s *store, key string, list []string) (f metaFlags, problem string) {
	f = metaFlags{list: list, key: key, delta: 1}
	var seen [127]bool
	for _, tok := range list {
		c, arg := tok[0], tok[1:]
		if c >= 127 || seen[c] {
			return f, dupFlag
		}
		seen[c] = true
		ok := true
		message := badToken
		switch c {
		case 'b':
			f.key, ok = decodeKey(key)
			f.binary = true
			message = "CLIENT_ERROR error decoding key\r\n"
		case 'N':
			f.vivify = true
			f.vivifyTTL, ok = cInt32(arg)
		case 'T':
			f.ttl, ok = cInt32(arg)
			f.hasTTL = ok
		case 'R':
			f.recache, ok = cInt32(arg)
		case 'C':
			f.cas, ok = cUint(arg)
			f.hasCAS = ok
		case 'F':
			f.clientFlags, ok = cUint32(arg)
			message = badFormat
		case 'M':
			if ok = len(arg) == 1; ok {
				f.mode = arg[0]
			}
			message = "CLIENT_ERROR incorrect length for M token\r\n"
		case 'J':
			f.initial, ok = cUint(arg)
			message = "CLIENT_ERROR invalid numeric initial value\r\n"
		case 'D':
			f.delta, ok = cUint(arg)
			message = "CLIENT_ERROR invalid numeric delta value\r\n"
		case 'v':
			f.value = true
		case 'q':
			f.quiet = true
		case 'u':
			f.noUpdate = true
		case 'I':
			f.invalidate = true
		case 'E':
			if s.release < chosenCASRelease {
				return f, badFlag
			}
			var cas uint64
			cas, ok = cUint(arg)
			f.chosen = &cas
		case 'x':
			if s.release < chosenCASRelease {
				return f, badFlag
			}
			f.dropValue = true
		case 'O', 'P', 'L', 'k', 's', 't', 'c', 'f', 'h', 'l':
		default:
			return f, badFlag
		}
		if !ok {
			problem = message
		}
	}
	return f, problem
}

// opaqueTooLong is checked by memcached while it writes the reply.
func (f *metaFlags) opaqueTooLong() bool {
	for _, tok := range f.list {
		if tok[0] == 'O' && len(tok) > opaqueLimit {
			return true
		}
	}
	return false
}

// line is a reply line under construction.
type line struct{ strings.Builder }

func (l *line) flag(c byte, arg string) {
	l.WriteByte(' ')
	l.WriteByte(c)
	l.WriteString(arg)
}

func (l *line) number(c byte, n uint64) { l.flag(c, strconv.FormatUint(n, 10)) }

func (l *line) key(key string, binary bool) {
	if binary {
		l.flag('k', encodeKey(key))
		l.flag('b', "")
		return
	}
	l.flag('k', key)
}

// ttl is printed as 32 bits, as memcached does.
func (l *line) ttl(it *item, now int64) {
	if it.exptime == 0 {
		l.flag('t', "-1")
		return
	}
	l.number('t', uint64(uint32(it.exptime-now)))
}

// echo writes the flags that come back even without an item.
func (l *line) echo(f *metaFlags) {
	for _, tok := range f.list {
		switch tok[0] {
		case 'O':
			l.flag('O', tok[1:])
		case 'k':
			l.key(f.key, f.binary)
		}
	}
}

func (l *line) end() string {
	l.WriteString("\r\n")
	return l.String()
}

func parseMetaGet(s *store, t []string) command {
	if len(t[1]) > keyLimit {
		return reply(badFormat)
	}
	if len(t) > metaTokens {
		return reply("CLIENT_ERROR options flags are too long\r\n")
	}
	f, problem := parseMeta(s, t[1], t[2:])
	if problem != "" {
		return reply(problem)
	}
	return command{run: func(s *store, _ []byte) string { return metaGet(s, &f) }}
}

func metaGet(s *store, f *metaFlags) string {
	if f.opaqueTooLong() {
		return badOpaque
	}
	s.counts.gets++
	var l line
	it := s.get(f.key)
	created := false
	if it == nil && f.vivify {
		it, created = &item{}, true
		s.link(f.key, it, f.chosen)
	}
	if it == nil {
		if f.quiet {
			return ""
		}
		l.WriteString("EN")
		l.echo(f)
		return l.end()
	}
	s.counts.getHits++
	if s.release >= unlessCASRelease && f.hasCAS && f.cas == it.cas {
		f.value = false
	}
	if f.value {
		fmt.Fprintf(&l, "VA %d", len(it.value))
	} else {
		l.WriteString("HD")
	}
	won := l.item(s, f, it, created)
	if it.tokenSent {
		l.flag('Z', "")
	}
	if it.stale {
		l.flag('X', "")
		won = won || !it.tokenSent
	}
	if won {
		l.flag('W', "")
		it.tokenSent = true
	}
	l.WriteString("\r\n")
	if f.value {
		l.Write(it.value)
		l.WriteString("\r\n")
	}
	if !f.noUpdate {
		s.bump(it)
	}
	return l.String()
}

// item writes what was asked for of an item, in the order of the flags, which
// matters: "t T30" tells the old expiry time, "T30 t" the new one. It reports
// whether this client is the one to recache the item.
func (l *line) item(s *store, f *metaFlags, it *item, created bool) (won bool) {
	for _, tok := range f.list {
		switch tok[0] {
		case 'T':
			it.exptime = s.expiry(f.ttl)
		case 'N':
			if created {
				it.exptime = s.expiry(f.vivifyTTL)
				won = true
			}
		case 'R':
			if !it.tokenSent && !created && it.exptime != 0 && it.exptime < s.expiry(f.recache) {
				won = true
			}
		case 's':
			l.number('s', uint64(len(it.value)))
		case 't':
			l.ttl(it, s.now())
		case 'c':
			l.number('c', it.cas)
		case 'f':
			l.number('f', uint64(it.flags))
		case 'l':
			l.number('l', uint64(s.now()-it.time))
		case 'h':
			if it.fetched {
				l.flag('h', "1")
			} else {
				l.flag('h', "0")
			}
		case 'O':
			l.flag('O', tok[1:])
		case 'k':
			l.key(f.key, it.binary)
		}
	}
	return won
}
