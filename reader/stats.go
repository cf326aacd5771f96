package reader

import "bytes"

// stats takes a line of the reply to stats:
//
//	STAT <name> <value>
//	END
//
// "stats reset" has RESET instead of all this, "stats detail on" and "off"
// have OK. Two subcommands send lines of their own where others send STAT, in
// the same shape: "stats cachedump" sends ITEM <key> [<n> b; <t> s], "stats
// detail dump" PREFIX <name> get <n> …. They are handed out alike.
func (p *Parser) stats(line []byte) (reason string) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "STAT", "ITEM", "PREFIX":
		name, value, more := bytes.Cut(rest, []byte(" "))
		if len(name) == 0 && !(more && word[0] == 'P') { // a key may begin with what ends its prefix
			return reasonHeader
		}
		p.seen++
		p.slot.Stat(name, value)
		return ""
	}
	switch string(line) {
	case "END":
	case "RESET", "OK":
		if p.seen > 0 {
			return reasonShape
		}
	default:
		return p.errorLine(line)
	}
	p.done(OK, nil)
	return ""
}
