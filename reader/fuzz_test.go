package reader

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes are what FuzzParse makes a FIFO of, a slot for each letter, so that a
// corpus file says what it is about and stays valid.
var shapes = map[byte]Expect{
	'm': meta(0, ""),
	'o': meta(1, ""),
	'k': meta(1, "k"),
	'a': meta(2, "a"),
	'b': {Kind: Meta, Key: "YQ==", Base64: true},
	'v': values("a", "zz", "b", "c"),
	'w': values("a", "a", "b"),
	's': {Kind: Stats},
	'l': {Kind: Line},
	'd': {Kind: Debug, Key: "k"},
	'u': {Kind: Meta, Value: ValueUnless, Unless: 5, Raw: true},
	'i': {Kind: Meta, Want: WantTTL | WantIdle | WantFetched},
	'p': answers,
	'q': quiet(1, 4),
	'Q': quiet(1, 3, "a", "YQ==", "k"),
	't': loud(1, 3),
	'T': loud(1, 2, "k", "YQ=="),
	'x': {},
}

// FuzzParse: any stream leads to the same outcome however it is cut, and is
// done with in bounded work. The cut is in the middle and byte by byte; step
// also cuts it in pieces of that length.
func FuzzParse(f *testing.F) {
	for _, s := range scripts {
		for _, shape := range []string{"kkkkkk", "mmmmmm", "vk", "ssss", "llllll", "bb", "uuuuuu", "iiii", "ddddd", "pppppp", "qqm", "Qm", "tm", "Tm"} {
			f.Add([]byte(s.stream), shape, uint16(7))
		}
	}
	for _, c := range poisons {
		f.Add([]byte(c.stream), "o", uint16(3))
		f.Add([]byte(c.stream), "v", uint16(3))
		f.Add([]byte(c.stream), "q", uint16(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, letters string, step uint16) {
		if len(letters) > 64 || len(stream) > 4*MaxLine {
			return
		}
		var expects []Expect
		for i := range len(letters) {
			expects = append(expects, shapes[letters[i]])
		}
		whole := feed(t, expects, stream, nil)

		require.LessOrEqual(t, whole.used, len(stream))
		require.LessOrEqual(t, len(whole.log), len(stream), "more calls than bytes")
		require.LessOrEqual(t, whole.taken, bytes.Count(stream, []byte("\n"))+1, "more slots than lines")
		if whole.err == "" && !whole.begun {
			require.Equal(t, len(stream), whole.used)
		}

		n := max(int(step), len(stream)/256, 1) // feed copies what is kept for each piece
		require.Equal(t, whole, feed(t, expects, stream, nil, n%(len(stream)+1)))
		require.Equal(t, whole, feed(t, expects, stream, nil, every(n, len(stream))...))
		if len(stream) <= 256 {
			require.Equal(t, whole, feed(t, expects, stream, nil, every(1, len(stream))...))
		}
	})
}

func every(step, length int) (ends []int) {
	for i := step; i < length; i += step {
		ends = append(ends, i)
	}
	return ends
}
