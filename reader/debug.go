package reader

import "bytes"

// debug takes the reply to me:
//
//	ME <key> <name>=<value>*
//	EN
//
// The key is base64 if the item was stored so, whichever way it was asked for; no
// flag tells.
func (p *Parser) debug(line []byte) (reason string) {
	if string(line) == "EN" {
		p.done(Miss, nil)
		return ""
	}
	rest, ok := bytes.CutPrefix(line, []byte("ME "))
	if !ok {
		return p.errorLine(line)
	}
	key, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return reasonHeader
	}
	if e := p.expect; string(key) != e.Key && !sameItem(e.Key, e.Base64, key, !e.Base64) {
		return reasonKey
	}
	p.done(OK, line)
	return ""
}
