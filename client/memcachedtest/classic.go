package memcachedtest

import (
	"fmt"
	"strings"
)

func parseGet(_ *store, t []string) command {
	keys := t[1:]
	withCAS := t[0] == "gets" || t[0] == "gats"
	touch := t[0] == "gat" || t[0] == "gats"
	var ttl int32
	if touch {
		var ok bool
		if ttl, ok = cInt32(t[1]); !ok {
			return reply(badExptime)
		}
		keys = t[2:]
	}
	for _, key := range keys {
		if len(key) > keyLimit {
			return reply(badFormat)
		}
	}
	return command{run: func(s *store, _ []byte) string {
		var b strings.Builder
		for _, key := range keys {
			s.counts.gets++
			it := s.get(key)
			if it == nil {
				continue
			}
			s.counts.getHits++
			s.bump(it)
			if touch {
				it.exptime = s.expiry(ttl)
			}
			fmt.Fprintf(&b, "VALUE %s %d %d", key, it.flags, len(it.value))
			if withCAS {
				fmt.Fprintf(&b, " %d", it.cas)
			}
			b.WriteString("\r\n")
			b.Write(it.value)
			b.WriteString("\r\n")
		}
		b.WriteString("END\r\n")
		return b.String()
	}}
}

var classicModes = map[string]mode{
	"set": modeSet, "add": modeAdd, "replace": modeReplace,
	"append": modeAppend, "prepend": modePrepend, "cas": modeCAS,
}

func parseStore(s *store, t []string) command {
	m := classicModes[t[0]]
	key := t[1]
	flags, ok1 := cUint32(t[2])
	ttl, ok2 := cInt32(t[3])
	n, ok3 := cInt32(t[4])
	var cas uint64
	ok4 := true
	if m == modeCAS {
		cas, ok4 = cUint(t[5])
	}
	if len(key) > keyLimit || !ok1 || !ok2 || !ok3 || !ok4 || n < 0 || n > valueLenLimit {
		return hush(t, reply(badFormat))
	}
	if !s.fits(key, flags, int(n)+2) {
		return hush(t, command{body: int(n) + 2, discard: true, run: func(s *store, _ []byte) string {
			if m == modeSet {
				delete(s.items, key)
			}
			return tooLarge
		}})
	}
	return hush(t, command{body: int(n) + 2, run: func(s *store, body []byte) string {
		value, ok := chunk(body)
		if !ok {
			return badChunk
		}
		it := &item{value: value, flags: flags, exptime: s.expiry(ttl), cas: cas}
		switch s.put(key, it, m, false, nil) {
		case stored:
			return "STORED\r\n"
		case exists:
			return "EXISTS\r\n"
		case notFound:
			return "NOT_FOUND\r\n"
		default:
			return "NOT_STORED\r\n"
		}
	}})
}

func parseDelete(_ *store, t []string) command {
	if n := len(t); n > 2 {
		zero, quiet := t[2] == "0", noreply(t)
		if valid := (n == 3 && (zero || quiet)) || (n == 4 && zero && quiet); !valid {
			return hush(t, reply("CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n"))
		}
	}
	if len(t[1]) > keyLimit {
		return hush(t, reply(badFormat))
	}
	return hush(t, command{run: func(s *store, _ []byte) string {
		if s.get(t[1]) == nil {
			return "NOT_FOUND\r\n"
		}
		delete(s.items, t[1])
		return "DELETED\r\n"
	}})
}

func parseArithmetic(_ *store, t []string) command {
	if len(t[1]) > keyLimit {
		return hush(t, reply(badFormat))
	}
	by, ok := cUint(t[2])
	if !ok {
		return hush(t, reply(badDelta))
	}
	return hush(t, command{run: func(s *store, _ []byte) string {
		switch _, number, out := s.delta(t[1], t[0] == "incr", by, 0); out {
		case deltaOK:
			return number + "\r\n"
		case deltaMiss:
			return "NOT_FOUND\r\n"
		default:
			return badNumber
		}
	}})
}

func parseTouch(_ *store, t []string) command {
	if len(t[1]) > keyLimit {
		return hush(t, reply(badFormat))
	}
	ttl, ok := cInt32(t[2])
	if !ok {
		return hush(t, reply(badExptime))
	}
	return hush(t, command{run: func(s *store, _ []byte) string {
		it := s.get(t[1])
		if it == nil {
			return "NOT_FOUND\r\n"
		}
		s.bump(it)
		it.exptime = s.expiry(ttl)
		return "TOUCHED\r\n"
	}})
}

func parseFlush(_ *store, t []string) command {
	args := t[1:]
	if noreply(t) {
		args = args[:len(args)-1]
	}
	var after int32
	if len(args) > 0 {
		var ok bool
		if after, ok = cInt32(args[0]); !ok {
			return hush(t, reply(badExptime))
		}
	}
	return hush(t, command{run: func(s *store, _ []byte) string {
		s.flush(after)
		return "OK\r\n"
	}})
}

func parseVerbosity(_ *store, t []string) command {
	if _, ok := cUint32(t[1]); !ok {
		return hush(t, reply(badFormat))
	}
	return hush(t, reply("OK\r\n"))
}
