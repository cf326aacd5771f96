package reader

import "bytes"

// Limits of what is taken for a sane reply.
const (
	// MaxLine bounds a line, its CR LF included. The server composes its lines
	// in buffers of 1 KiB; a proxy may be more talkative.
	MaxLine = 8192
	// MaxValue bounds a value. It is the most that the server's -I accepts.
	MaxValue = 1 << 30
)

// Parser is the state of one connection's reply stream between two windows.
// The zero Parser is at the start of a stream. It must not be copied once used,
// and its methods must not be called concurrently or from within a Slot.
type Parser struct {
	state  state
	kind   Kind    // of slot's reply
	left   int     // stateValue: bytes of the value still to come
	seen   int     // Values: keys of expect.Keys used up; Run: requests; Stats: lines
	lines  int     // Run, quiet: error lines since a request was last seen answered
	slot   Slot    // reply begun and not done, or nil
	expect *Expect // of slot
	result Result  // lent to the slot; here because a local would escape to the heap
	err    error   // poison
}

type state uint8

const (
	stateLine  state = iota // at the start of a line
	stateValue              // within a value
	stateEnd                // before the CR LF that follows a value
)

// Parse consumes as much of window as it can and calls the slots it belongs
// to, which it takes from q. The window is all the bytes that were received
// and not consumed, in order. It is only read, and not kept: the unused bytes,
// which are less than [MaxLine], have to be presented again with more
// appended.
//
// An error is poison, always a [*DesyncError]: what is in the window up to used
// was parsed and delivered, no slot is called any more, and each further Parse
// returns the same error. If a reply was at fault, Slot still has its slot.
func (p *Parser) Parse(window []byte, q Queue) (used int, err error) {
	if p.err != nil {
		return 0, p.err
	}
	// Once round is one reply, if all of it is there.
	for used < len(window) {
		var n int
		var reason string
		if p.state == stateLine {
			if n, reason = p.line(window[used:], q); reason != "" {
				return used, p.poison(reason)
			}
			if n == 0 {
				break
			}
			used += n
		}
		if p.state == stateValue {
			if n = min(p.left, len(window)-used); n == 0 {
				break
			}
			p.landed(n)
			p.slot.Chunk(window[used : used+n])
			used += n
		}
		if p.state == stateEnd {
			if n, reason = p.valueEnd(window[used:]); reason != "" {
				return used, p.poison(reason)
			}
			if n == 0 {
				break
			}
			used += n
		}
	}
	return used, nil
}

// Slot returns the slot whose reply has begun and is not done, or nil. Once
// taken from its Queue it is known here only, so a connection that dies has to
// fail it.
func (p *Parser) Slot() Slot { return p.slot }

// ValueLeft returns how many bytes of the current value have not come yet, 0
// if the stream is not within a value.
func (p *Parser) ValueLeft() int {
	if p.state != stateValue || p.err != nil {
		return 0
	}
	return p.left
}

// Landed tells the parser that the value's next n bytes were received straight
// into their destination. They are not to be presented to Parse, and the slot
// gets no Chunk of them. All of the window has to have been used before.
func (p *Parser) Landed(n int) error {
	if p.err != nil {
		return p.err
	}
	if n < 0 || n > p.ValueLeft() {
		return p.poison(reasonLanded)
	}
	if n > 0 {
		p.landed(n)
	}
	return nil
}

func (p *Parser) landed(n int) {
	p.left -= n
	if p.left == 0 {
		p.state = stateEnd
	}
}

// line consumes one line if rest holds all of it.
func (p *Parser) line(rest []byte, q Queue) (n int, reason string) {
	if p.slot == nil {
		// Before the line is complete: unasked bytes are poison from the first.
		s := q.Next()
		if s == nil {
			return 0, reasonUnasked
		}
		p.slot, p.expect, p.seen, p.lines = s, s.Expect(), 0, 0
		p.kind = p.expect.Kind
	}
	if len(rest) > MaxLine {
		rest = rest[:MaxLine]
	}
	lf := bytes.IndexByte(rest, '\n')
	switch {
	case lf < 0 && len(rest) == MaxLine:
		return 0, reasonLongLine
	case lf < 0:
		return 0, ""
	case lf == 0 || rest[lf-1] != '\r':
		return 0, reasonBareLF
	}
	line := rest[:lf-1]
	switch p.kind {
	case Meta:
		reason = p.meta(line)
	case Values:
		reason = p.values(line)
	case Stats:
		reason = p.stats(line)
	case Run:
		reason = p.run(line)
	case Line:
		reason = p.single(line)
	case Debug:
		reason = p.debug(line)
	default:
		reason = reasonExpect
	}
	return lf + 1, reason
}

// value announces the value in result.Item to the slot.
func (p *Parser) value() {
	it := &p.result.Item
	p.left, p.state = it.Size, stateValue
	p.landed(0) // an empty value has its CR LF next
	p.slot.Value(it)
	*it = Item{} // a slot may have kept the pointer, and Key dies here
}

// valueEnd consumes the CR LF behind a value, which an empty one has too.
func (p *Parser) valueEnd(rest []byte) (n int, reason string) {
	switch {
	case len(rest) >= 2 && rest[0] == '\r' && rest[1] == '\n':
	case len(rest) == 0 || len(rest) == 1 && rest[0] == '\r':
		return 0, ""
	default:
		return 0, reasonValueEnd
	}
	p.state = stateLine
	switch p.kind {
	case Meta:
		p.done(OK, nil)
	case Run:
		p.endLoud()
	}
	return 2, ""
}

// done ends the slot's reply. The slot is forgotten first: it is its caller's
// again from within Done.
func (p *Parser) done(status Status, line []byte) {
	s, r := p.slot, &p.result
	p.slot, p.expect = nil, nil
	r.Status, r.Line = status, line
	s.Done(r)
	*r = Result{}
}

func (p *Parser) poison(reason string) error {
	p.err = &DesyncError{Reason: reason}
	return p.err
}
