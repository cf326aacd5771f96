package reader

import "math"

// meta takes a reply line of the meta protocol:
//
//	VA <size> <flags>*
//	HD|EN|NF|NS|EX <flags>*
//	MN
//
// A flag is a letter with its token behind it, in the order of the request,
// "though this is not strict" (protocol.txt, Meta Commands); W, X and Z come
// last, unasked.
func (p *Parser) meta(line []byte) (reason string) {
	status, size, rest, reason := metaStatus(line)
	switch {
	case reason != "":
		return reason
	case status == 0:
		return p.errorLine(line)
	case !p.expect.fits(status, size >= 0):
		return reasonShape
	}
	if reason = p.flags(rest, status == OK, p.expect.Opaque, p.expect.Key); reason != "" {
		return reason
	}
	if e := p.expect; status == OK && e.Value == ValueUnless {
		if (p.result.Item.CAS == e.Unless) != (size < 0) {
			return reasonCAS
		}
		if size < 0 {
			status = Unchanged
		}
	}
	if size < 0 {
		p.done(status, nil)
		return ""
	}
	p.result.Item.Size = size
	p.value()
	return ""
}

// metaStatus reads a reply line up to its flags. Without a value size is -1; a
// status of 0 is that of a line which is none of the meta protocol's.
func metaStatus(line []byte) (status Status, size int, rest []byte, reason string) {
	if len(line) < 2 || len(line) > 2 && line[2] != ' ' {
		return 0, -1, nil, ""
	}
	rest, size = line[2:], -1
	switch string(line[:2]) {
	case "VA":
		if len(rest) == 0 {
			return 0, -1, nil, reasonSize
		}
		v, n, ok := number(rest[1:], MaxValue)
		if !ok {
			return 0, -1, nil, reasonSize
		}
		status, rest, size = OK, rest[1+n:], int(v)
	case "HD", "MN":
		status = OK
	case "EN":
		status = Miss
	case "NF":
		status = NotFound
	case "NS":
		status = NotStored
	case "EX":
		status = Exists
	}
	return status, size, rest, ""
}

// flags reads the flags of a reply into result.Item and verifies that opaque and
// key are those asked for: see Expect.Opaque and Expect.Key. Unknown flags are
// skipped, for newer servers may have more.
//
// A reply that states success has to carry both, if they were sent, and what else
// was asked for. The others may lack them: servers before 1.6.18 answer a bare EN.
// That makes MN, which never carries either, poison for all but its own mn.
func (p *Parser) flags(line []byte, must bool, asked uint32, name string) (reason string) {
	e, it := p.expect, &p.result.Item
	if e.Raw {
		it.Raw = line
	}
	var key []byte
	var has FlagSet
	var literal, base64 bool
	for at := 0; at < len(line); {
		flag := line[at]
		at++
		if flag == ' ' {
			continue
		}
		token := line[at:]
		var n int // length of the token
		var v uint64
		ok := true
		switch flag {
		case 'O':
			var o uint32
			o, n, ok = opaque(token)
			if !ok || o != asked || o == 0 {
				return reasonOpaque
			}
			has |= wantOpaque
		case 'k':
			// Almost always it is the key expected: one comparison then finds
			// its end, too.
			n = len(name)
			literal = n > 0 && startsWith(token, name) && (n == len(token) || token[n] == ' ')
			if !literal {
				n = tokenLen(token)
			}
			key = token[:n]
			has |= wantKey
		case 'f':
			v, n, ok = number(token, math.MaxUint32)
			it.Flags = uint32(v)
		case 'c':
			it.CAS, n, ok = number(token, math.MaxUint64)
			has |= WantCAS
		case 's':
			v, n, ok = number(token, MaxValue)
			it.Size = int(v)
			has |= WantSize
		case 't':
			it.TTL, n, ok = ttl(token)
			it.HasTTL = true
			has |= WantTTL
		case 'l':
			v, n, ok = number(token, math.MaxUint32)
			it.Idle = uint32(v)
			has |= WantIdle
		case 'h':
			v, n, ok = number(token, 1)
			it.Fetched = v == 1
			has |= WantFetched
		default:
			n = tokenLen(token)
			switch flag {
			case 'b':
				base64 = true
			case 'W':
				it.Won = true
			case 'X':
				it.Stale = true
			case 'Z':
				it.Leased = true
			}
		}
		if !ok {
			return reasonNumber
		}
		at += n
	}
	it.Key = key
	if name != "" && has&wantKey != 0 && !(literal && base64 == e.Base64) && !sameItem(name, e.Base64, key, base64) {
		return reasonKey
	}
	if must {
		return missing(has, e.Want, asked, name)
	}
	return ""
}

// missing says what a reply lacks that states success.
func missing(has, want FlagSet, asked uint32, name string) (reason string) {
	switch {
	case asked != 0 && has&wantOpaque == 0:
		return reasonNoOpaque
	case name != "" && has&wantKey == 0:
		return reasonNoKey
	case want&^has != 0:
		return reasonNoFlag
	}
	return ""
}
