package admin

import (
	"bytes"
	"encoding/base64"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/memring/memring/client"
)

// pairs yields the fields of a line of the form a=1 b=2. A word without = is a field
// without a name. Both lie in line.
func pairs(line []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for len(line) > 0 {
			var word []byte
			word, line, _ = bytes.Cut(line, []byte(" "))
			if len(word) == 0 {
				continue // newer servers end their lines in a space
			}
			name, value, ok := bytes.Cut(word, []byte("="))
			if !ok {
				name, value = nil, word
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// unescape undoes the server's URI encoding, in which a + is a plus.
func unescape(s []byte) (string, bool) {
	if bytes.IndexByte(s, '%') < 0 {
		return string(s), true
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, ok := hexDigit(s[i+1])
		lo, ok2 := hexDigit(s[i+2])
		if !ok || !ok2 {
			return "", false
		}
		b.WriteByte(hi<<4 | lo)
		i += 2
	}
	return b.String(), true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

func parseUint(s []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(s), 10, 64)
	return n, err == nil
}

func unixTime(s []byte) (time.Time, bool) {
	n, err := strconv.ParseInt(string(s), 10, 64)
	return time.Unix(n, 0), err == nil
}

// secondsOf reads a duration in seconds, which may be negative.
func secondsOf(s string) (time.Duration, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	const most = math.MaxInt64 / int64(time.Second)
	if err != nil || n < -most || n > most {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// plain reports whether key can stand in a command as it is.
func plain(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] == 0x7f {
			return false
		}
	}
	return 0 < len(key) && len(key) <= client.MaxKeyLen
}

// encode64 is how a command has a key that can't stand in it as it is.
func encode64(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }
