package standin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

const testSize = 12

// answers feeds the chunks and returns the replies, one element each.
func answers(t *testing.T, chunks ...string) []string {
	t.Helper()
	s := NewSession(testSize, func() uint64 { return 7 })
	var out []string
	for _, c := range chunks {
		require.NoError(t, s.Feed([]byte(c), func(a Answer) { out = append(out, string(a.Reply)) }))
	}
	return out
}

func TestSessionReplies(t *testing.T) {
	val := func(key string) string { return string(cases.AppendValue(nil, key, testSize)) + "\r\n" }
	for _, c := range []struct{ name, in, want string }{
		{"meta get", "mg a v\r\n", "VA 12\r\n" + val("a")},
		{"flags come back in order", "mg a v f c k O7\r\n", "VA 12 f0 c1 ka O7\r\n" + val("a")},
		{"and in another", "mg a O7 k v t s\r\n", "VA 12 O7 ka t-1 s12\r\n" + val("a")},
		{"meta get without value", "mg a k O1\r\n", "HD ka O1\r\n"},
		{"no key", "mg\r\n", "CLIENT_ERROR bad command line format\r\n"},
		{"classic get", "get a\r\n", "VALUE a 0 12\r\n" + val("a") + "END\r\n"},
		{"classic gets of two", "gets a b\r\n", "VALUE a 0 12 1\r\n" + val("a") + "VALUE b 0 12 1\r\n" + val("b") + "END\r\n"},
		{"meta set", "ms a 3 T0 O9 k\r\nx\r\n\r\n", "HD O9 ka\r\n"},
		{"quiet meta set", "ms a 1 q\r\nx\r\n", ""},
		{"classic set", "set a 0 0 2\r\nhi\r\n", "STORED\r\n"},
		{"noreply", "set a 0 0 2 noreply\r\nhi\r\n", ""},
		{"delete", "md a q O1\r\n", ""},
		{"barrier", "mn\r\n", "MN\r\n"},
		{"version", "version\r\n", "VERSION 1.6.18\r\n"},
		{"statistics", "stats\r\n", "STAT total_connections 7\r\nEND\r\n"},
		{"a stall", "stall 200\r\n", "OK\r\n"},
		{"a stall of no length", "stall\r\n", "CLIENT_ERROR stall wants milliseconds\r\n"},
		{"unknown", "what\r\n", "ERROR\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, []string{c.want}, answers(t, c.in))
		})
	}
}

func TestSessionSplitAnywhere(t *testing.T) {
	all := "ms a 4 O1\r\na\r\nb\r\nmg k v k O2\r\nget x y\r\nmn\r\n"
	want := answers(t, all)
	require.Len(t, want, 4)
	for i := range all {
		require.Equalf(t, want, answers(t, all[:i], all[i:]), "split before byte %d", i)
	}
	require.Equal(t, want, answers(t, strings.Split(all, "")...), "byte by byte")
}

func TestSessionRefusesEndlessLine(t *testing.T) {
	err := NewSession(1, nil).Feed(make([]byte, maxLine+1), func(Answer) {})
	require.ErrorIs(t, err, errLine)
}
