package reader

import (
	"bytes"
	"math"
)

// number reads the decimal digits that s begins with, up to a space or the
// end, and returns how many there are. The server writes its numbers bare: no
// sign, no padding.
func number(s []byte, most uint64) (v uint64, digits int, ok bool) {
	for _, c := range s {
		if c == ' ' {
			break
		}
		d := uint64(c - '0')
		if d > 9 {
			return 0, digits, false
		}
		v = v*10 + d
		digits++
	}
	// Checked once, not per digit: 19 digits can't overflow 64 bits, and the
	// 20 of which some do begin with a 1, else v has wrapped round.
	if digits == 20 {
		return v, digits, s[0] == '1' && v >= 1e19 && v <= most
	}
	return v, digits, 0 < digits && digits < 20 && v <= most
}

// ttl reads the token of a t flag, which is -1 for an item that never expires.
func ttl(s []byte) (v int64, length int, ok bool) {
	if string(s[:tokenLen(s)]) == "-1" {
		return -1, 2, true
	}
	n, length, ok := number(s, math.MaxInt64)
	return int64(n), length, ok
}

// opaque reads the token of an O flag: 1 to 8 digits of lowercase hex, as the
// request had it.
func opaque(s []byte) (v uint32, digits int, ok bool) {
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | uint32(c-'a'+10)
		case c == ' ':
			return v, digits, 0 < digits && digits <= 8
		default:
			return 0, digits, false
		}
		digits++
	}
	return v, digits, 0 < digits && digits <= 8
}

// tokenLen returns the length of the token that s begins with.
func tokenLen(s []byte) int {
	if i := bytes.IndexByte(s, ' '); i >= 0 {
		return i
	}
	return len(s)
}
