package memcachedtest

import "fmt"

func parseMetaSet(s *store, t []string) command {
	if len(t[1]) > keyLimit || len(t) == 2 {
		return reply(badFormat)
	}
	if len(t) > metaTokens {
		return reply("CLIENT_ERROR options flags too long\r\n")
	}
	n, ok := cInt32(t[2])
	if !ok || n < 0 || n > valueLenLimit {
		// The body's length is unknown: it will be taken for commands.
		return reply(badFormat)
	}
	// From here on memcached swallows the body of a line in error.
	swallow := func(problem string) command {
		c := reply(problem)
		c.body, c.discard = int(n)+2, true
		return c
	}
	f, problem := parseMeta(s, t[1], t[3:])
	if problem != "" {
		return swallow(problem)
	}
	m := mode(f.mode)
	switch m {
	case 0:
		m = modeSet
	case modeSet, modeAdd, modeAppend, modePrepend, modeReplace:
	default:
		return swallow("CLIENT_ERROR invalid mode for ms M token\r\n")
	}
	if f.hasCAS && (m == modeSet || m == modeReplace) {
		m = modeCAS
	}
	if f.vivify && s.release >= storedSizeRelease {
		switch m {
		case modeAppend:
			m, f.ttl = modeAppendViv, f.vivifyTTL
		case modePrepend:
			m, f.ttl = modePrependViv, f.vivifyTTL
		}
	}
	if f.opaqueTooLong() {
		return swallow(badOpaque)
	}
	if !s.fits(f.key, f.clientFlags, int(n)+2) {
		c := swallow(tooLarge)
		c.run = func(s *store, _ []byte) string {
			delete(s.items, f.key) // rather nothing than something old
			return tooLarge
		}
		return c
	}
	return command{body: int(n) + 2, run: func(s *store, body []byte) string {
		value, ok := chunk(body)
		if !ok {
			return badChunk
		}
		it := &item{value: value, flags: f.clientFlags, exptime: s.expiry(f.ttl), cas: f.cas, binary: f.binary}
		return metaSet(s, &f, it, m)
	}}
}

func metaSet(s *store, f *metaFlags, it *item, m mode) string {
	var l line
	var cas uint64
	switch s.put(f.key, it, m, f.invalidate, f.chosen) {
	case stored:
		if f.quiet {
			return ""
		}
		cas = it.cas
		l.WriteString("HD")
	case exists:
		l.WriteString("EX")
	case notFound:
		l.WriteString("NF")
	case notStored:
		l.WriteString("NS")
	}
	for _, tok := range f.list {
		switch tok[0] {
		case 'O':
			l.flag('O', tok[1:])
		case 'k':
			l.key(f.key, f.binary)
		case 'c':
			l.number('c', cas)
		case 's':
			if s.release >= storedSizeRelease {
				l.number('s', uint64(len(it.value)))
			}
		}
	}
	return l.end()
}

func parseMetaDelete(s *store, t []string) command {
	f, problem := parseMetaShort(s, t)
	if problem != "" {
		return reply(problem)
	}
	return command{run: func(s *store, _ []byte) string { return metaDelete(s, &f) }}
}

// parseMetaShort reads an md or ma line. These two answer one line for all
// errors in flags.
func parseMetaShort(s *store, t []string) (f metaFlags, problem string) {
	if len(t[1]) > keyLimit {
		return f, badFormat
	}
	if len(t) > metaTokens {
		return f, "CLIENT_ERROR options flags too long\r\n"
	}
	f, problem = parseMeta(s, t[1], t[2:])
	if problem != "" {
		return f, badOrDupFlag
	}
	return f, ""
}

func metaDelete(s *store, f *metaFlags) string {
	if f.opaqueTooLong() {
		return badOpaque
	}
	var l line
	it := s.get(f.key)
	switch {
	case it == nil:
		l.WriteString("NF")
	case f.hasCAS && f.cas != it.cas:
		l.WriteString("EX")
	default:
		if f.dropValue {
			// A new item, which has forgotten the old one's expiry time and flags.
			cas := it.cas
			it = &item{flags: f.clientFlags, exptime: s.expiry(f.ttl)}
			if f.chosen != nil {
				cas = *f.chosen
			}
			s.link(f.key, it, &cas)
		}
		switch {
		case f.invalidate:
			if f.hasTTL {
				it.exptime = s.expiry(f.ttl)
			}
			it.stale, it.tokenSent = true, false
			if f.chosen != nil {
				it.cas = *f.chosen
			} else {
				it.cas = s.nextCAS()
			}
		case !f.dropValue:
			delete(s.items, f.key)
		}
		if f.quiet {
			return ""
		}
		l.WriteString("HD")
	}
	l.echo(f)
	return l.end()
}

func parseMetaArithmetic(s *store, t []string) command {
	f, problem := parseMetaShort(s, t)
	if problem != "" {
		return reply(problem)
	}
	incr := true
	switch f.mode {
	case 0, 'I', '+':
	case 'D', '-':
		incr = false
	default:
		return reply("CLIENT_ERROR invalid mode for ma M token\r\n")
	}
	return command{run: func(s *store, _ []byte) string { return metaArithmetic(s, &f, incr) }}
}

func metaArithmetic(s *store, f *metaFlags, incr bool) string {
	it, number, out := s.delta(f.key, incr, f.delta, f.cas)
	created := false
	var l line
	switch out {
	case deltaNotNumeric:
		return badNumber
	case deltaExists:
		l.WriteString("EX")
	case deltaMiss:
		if !f.vivify {
			l.WriteString("NF")
			break
		}
		number = fmt.Sprint(f.initial)
		it, created = &item{value: []byte(number)}, true
		s.link(f.key, it, f.chosen)
	case deltaOK:
		if f.chosen != nil {
			it.cas = *f.chosen // of the old item, if the number became longer
		}
	}
	if f.opaqueTooLong() {
		return badOpaque // though the number has changed
	}
	if it == nil {
		l.echo(f)
		return l.end()
	}
	if f.value {
		fmt.Fprintf(&l, "VA %d", len(number))
	} else {
		l.WriteString("HD")
	}
	for _, tok := range f.list {
		switch tok[0] {
		case 'c':
			l.number('c', it.cas)
		case 't':
			l.ttl(it, s.now())
		case 'T':
			it.exptime = s.expiry(f.ttl)
		case 'N':
			if created {
				it.exptime = s.expiry(f.vivifyTTL)
			}
		case 'O':
			l.flag('O', tok[1:])
		case 'k':
			l.key(f.key, f.binary)
		}
	}
	if f.value {
		l.WriteString("\r\n")
		l.WriteString(number)
	}
	if f.quiet && !created {
		return "" // a number that was made anew is answered even so
	}
	return l.end()
}

func parseMetaDebug(_ *store, t []string) command {
	if len(t) < 2 || len(t[1]) > keyLimit {
		return reply(badFormat)
	}
	key := t[1]
	if len(t) >= 3 && t[2] == "b" {
		var ok bool
		if key, ok = decodeKey(key); !ok {
			return reply(badFormat)
		}
	}
	return command{run: func(s *store, _ []byte) string {
		it := s.get(key)
		if it == nil {
			return "EN\r\n"
		}
		exp, fetched, shown := int64(-1), "no", key
		if it.exptime != 0 {
			exp = s.now() - it.exptime // the sign is memcached's
		}
		if it.fetched {
			fetched = "yes"
		}
		if it.binary {
			shown = encodeKey(key)
		}
		size := 48 + len(key) + 1 + 8 + len(it.value) + 2
		if it.flags != 0 {
			size += 4
		}
		return fmt.Sprintf("ME %s exp=%d la=%d cas=%d fetch=%s cls=1 size=%d\r\n",
			shown, exp, s.now()-it.time, it.cas, fetched, size)
	}}
}
