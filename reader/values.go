package reader

import (
	"bytes"
	"math"
)

// values takes a line of the reply to a classic get, gets, gat or gats:
//
//	VALUE <key> <flags> <size> [<cas>]
//	END
//
// There is a VALUE for each item that the server has, in the order asked for
// (protocol.txt, Retrieval command). Nothing but the keys ties this reply to
// its request, so each has to be found further on among those asked for.
func (p *Parser) values(line []byte) (reason string) {
	rest, ok := bytes.CutPrefix(line, []byte("VALUE "))
	if !ok {
		if string(line) == "END" {
			p.done(OK, nil)
			return ""
		}
		return p.errorLine(line)
	}
	key, numbers, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return reasonHeader
	}
	if !p.nextKey(key) {
		return reasonKey
	}
	it := &p.result.Item
	flags, n, ok := number(numbers, math.MaxUint32)
	if !ok {
		return reasonNumber
	}
	if numbers = numbers[n:]; len(numbers) == 0 {
		return reasonSize
	}
	size, n, ok := number(numbers[1:], MaxValue)
	if !ok {
		return reasonSize
	}
	if numbers = numbers[1+n:]; len(numbers) > 0 {
		if it.CAS, n, ok = number(numbers[1:], math.MaxUint64); !ok {
			return reasonNumber
		}
		if len(numbers) > 1+n {
			return reasonHeader
		}
	}
	it.Key, it.Flags, it.Size, it.Index = key, uint32(flags), int(size), p.seen-1
	p.value()
	return ""
}

// nextKey uses up the keys asked for until one is key. Over a whole reply it
// looks at each key once.
func (p *Parser) nextKey(key []byte) bool {
	for keys := p.expect.Keys; p.seen < len(keys); {
		k := keys[p.seen]
		p.seen++
		if string(key) == k {
			return true
		}
	}
	return false
}
