package reader

import "bytes"

// single takes a reply of one line, whatever it says. Only lines that can't
// be all of a reply are refused: what follows them would be taken for the
// replies to other requests.
func (p *Parser) single(line []byte) (reason string) {
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
