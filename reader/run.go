package reader

import "cmp"

// run takes a line of the reply to a run: requests of the meta protocol that are
// one slot, with opaques that are consecutive numbers.
//
// A loud run is answered line by line, one to each request, so the next line is
// the next request's, an error line too. It ends with the last one's.
//
// In a quiet one (flag q) the server leaves out what is nominal, but for the last
// request, which is loud, and an mn behind it marks the end:
//
//	NF O2
//	HD O5
//	MN
//
// MN could be anybody's, so it counts only behind the last request's answer, whose
// opaque says that the server has come so far. (To a miss, servers before 1.6.18
// answer a bare EN. Since the others' are left out it is the last one's.)
//
// (protocol.txt, "Quiet mode semantics" of the meta commands.) The opaque says
// which request a line answers, and since the server answers in order, that all
// those passed over went as they should. An error line, which has no opaque, is
// the answer to one of those not past yet; nobody can say to which, but there
// cannot be more such lines than requests.
func (p *Parser) run(line []byte) (reason string) {
	e := p.expect
	if e.Quiet && string(line) == "MN" && p.lastAnswered() {
		p.done(OK, nil)
		return ""
	}
	status, size, rest, reason := metaStatus(line)
	switch {
	case reason != "":
		return reason
	case status == 0:
		return p.errorLine(line)
	case !e.fits(status, size >= 0):
		return reasonShape
	}
	i := p.seen
	if e.Quiet {
		if i, reason = p.place(rest); len(rest) == 0 && status == Miss {
			i, reason = e.Count-1, ""
		}
		if reason != "" || i < p.seen {
			return cmp.Or(reason, reasonTooMany)
		}
		if p.lines > i-p.seen {
			return reasonTooMany
		}
	} else if i == e.Count {
		return reasonTooMany
	}
	var key string
	if len(e.Keys) > 0 {
		key = e.Keys[i]
	}
	if reason = p.flags(rest, status == OK, e.Opaque+uint32(i), key); reason != "" {
		return reason
	}
	p.seen, p.lines = i+1, 0
	if size >= 0 {
		p.result.Item.Size, p.result.Item.Index = size, i
		p.value()
		return ""
	}
	p.answer(i, status, nil)
	return ""
}

// lastAnswered reports whether the last request of a quiet run has its answer: an
// error line may be that.
func (p *Parser) lastAnswered() bool { return p.seen == p.expect.Count || p.lines > 0 }

// place finds out by its opaque which request a line answers: one behind those
// that are past.
func (p *Parser) place(flags []byte) (i int, reason string) {
	for at := 0; at < len(flags); at++ {
		if flags[at] == ' ' {
			continue
		}
		if flags[at] == 'O' {
			o, _, ok := opaque(flags[at+1:])
			o -= p.expect.Opaque
			if !ok || o >= uint32(p.expect.Count) || int(o) < p.seen {
				return 0, reasonOpaque
			}
			return int(o), ""
		}
		at += tokenLen(flags[at:])
	}
	return 0, reasonNoOpaque
}

// answer gives the slot a reply without a value.
func (p *Parser) answer(i int, status Status, line []byte) {
	r := &p.result
	r.Status, r.Line = status, line
	p.slot.Answer(i, r)
	*r = Result{}
	p.endLoud()
}

// endLoud ends a loud run with its last reply.
func (p *Parser) endLoud() {
	if !p.expect.Quiet && p.seen == p.expect.Count {
		p.done(OK, nil)
	}
}

// failed takes an error line after which the stream is in sync.
func (p *Parser) failed(line []byte) (reason string) {
	if p.kind != Run {
		p.done(Failed, line)
		return ""
	}
	i := p.seen
	if i+p.lines >= p.expect.Count {
		return reasonTooMany
	}
	if p.expect.Quiet {
		p.lines++
	} else {
		p.seen++
	}
	p.answer(i, Failed, line)
	return ""
}
