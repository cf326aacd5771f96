package reader

import "bytes"

// single takes a reply of one line. Lines that can't be all of a reply are
// refused, since what follows them would be taken for the replies to other
// requests.
func (p *Parser) single(line []byte) (reason string) {
	if p.expect.Answers != nil {
		return p.oneOf(line)
	}
	word, _, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "", "VALUE", "VA", "STAT":
		return reasonShape
	}
	if isErrorLine(line) {
		return p.errorLine(line)
	}
	p.done(OK, line)
	return ""
}

// oneOf is single for a request that says what its answers are.
func (p *Parser) oneOf(line []byte) (reason string) {
	for _, a := range p.expect.Answers {
		if startsWith(line, a) && (len(line) == len(a) || line[len(a)] == ' ') {
			p.done(OK, line)
			return ""
		}
	}
	return p.errorLine(line)
}
