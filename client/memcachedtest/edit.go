package memcachedtest

import "bytes"

func wrongOpaque(reply []byte) []byte { return wrongFlag(reply, 'O') }

func wrongKey(reply []byte) []byte {
	if rest, ok := bytes.CutPrefix(reply, []byte("VALUE ")); ok && len(rest) > 0 {
		rest[0] = other(rest[0])
		return reply
	}
	return wrongFlag(reply, 'k')
}

// wrongFlag changes the last byte of what follows a flag's letter in the first
// line, or adds one if there is none.
func wrongFlag(reply []byte, letter byte) []byte {
	end := bytes.IndexByte(reply, '\r')
	if end < 0 {
		end = len(reply)
	}
	i := bytes.Index(reply[:end], []byte{' ', letter})
	if i < 0 {
		return reply
	}
	last := i + 1
	for last+1 < end && reply[last+1] != ' ' {
		last++
	}
	if last == i+1 {
		return bytes.Join([][]byte{reply[:last+1], []byte("x"), reply[last+1:]}, nil)
	}
	reply[last] = other(reply[last])
	return reply
}

func other(c byte) byte {
	if c == 'x' {
		return 'y'
	}
	return 'x'
}
