package memcachedtest

import (
	"encoding/base64"
	"strings"
)

const (
	keyLimit      = 250
	opaqueLimit   = 32 // bytes, the O included
	metaTokens    = 19 // command and key included; memcached's 20 counts an end mark
	lineLimit     = 2048
	getLineLimit  = 1 << 20
	valueLenLimit = 1<<31 - 1 - 2
)

// tokens splits a command line as memcached does: at spaces alone, and only up
// to a NUL, where its strings end.
func tokens(line string) []string {
	line, _, _ = strings.Cut(line, "\x00")
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
}

// cUint parses what C's strtoull takes, with the checks of memcached's
// safe_strtoull: something must have been parsed, and only white space may
// follow. Negative numbers wrap around, as in C, unless the result looks
// negative.
func cUint(s string) (uint64, bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	negative := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		negative = s[i] == '-'
		i++
	}
	begin := i
	var n uint64
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		next := n*10 + uint64(s[i]-'0')
		if n > (1<<64-1)/10 || next < n*10 {
			return 0, false // ERANGE
		}
		n = next
	}
	if i == begin || (i < len(s) && !isSpace(s[i])) {
		return 0, false
	}
	if negative {
		n = -n
	}
	if int64(n) < 0 && strings.Contains(s, "-") {
		return 0, false
	}
	return n, true
}

func cUint32(s string) (uint32, bool) {
	n, ok := cUint(s)
	return uint32(n), ok
}

// cInt32 is safe_strtol: a long, cut to 32 bits without a check.
func cInt32(s string) (int32, bool) {
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		n, ok := cUint(digits)
		return int32(-int64(n)), ok && n <= 1<<63 && digits[0] != '-' && digits[0] != '+'
	}
	n, ok := cUint(s)
	return int32(n), ok && n < 1<<63
}

func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

// decodeKey decodes a base64 key. memcached passes over foreign bytes; no
// client sends any, so here they are an error.
func decodeKey(s string) (string, bool) {
	key, err := base64.StdEncoding.DecodeString(s)
	return string(key), err == nil && len(key) > 0
}

func encodeKey(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }
