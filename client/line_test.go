package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/internal/direct"
	"github.com/memring/memring/client/memcachedtest"
)

// Whatever its words are, a command is one line or is refused.
func TestCommandLine(t *testing.T) {
	for _, bad := range [][]string{
		{"lru", "x\r\nflush_all"}, {"lru", "a b"}, {"lru", ""}, {"lru", "a\x00"}, {strings.Repeat("x", MaxKeyLen+1)},
	} {
		_, err := commandLine(bad)
		require.ErrorIs(t, err, ErrArgument, "%q", bad)
		require.NotContains(t, err.Error(), "flush_all")
	}
	words := make([]string, 16)
	for i := range words {
		words[i] = strings.Repeat("w", 127)
	}
	_, err := commandLine(words) // 2,047 bytes and CR LF
	require.ErrorIs(t, err, ErrArgument)
	line, err := commandLine(words[1:])
	require.NoError(t, err)
	require.Equal(t, strings.Join(words[1:], " "), line)
}

// Nothing that a line is refused for has been sent, and what the server refuses
// leaves the connection as it was.
func TestAsk(t *testing.T) {
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
	cl := rawClient(t, nil, mc.Addr())
	ask := func(words ...string) (string, error) {
		line, _, err := direct.Ask(t.Context(), cl, direct.Line{Op: "name", Words: words, Answers: []string{"OK", "SAME"}})
		return line, err
	}
	line, err := ask("slabs", "reassign", "1", "1")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "SAME "))
	for _, words := range [][]string{{"verbosity"}, {"nonsense"}, {"lru_crawler", "enable"}, {"slabs", "automove", "x"}} {
		_, err = ask(words...)
		var e *OpError
		require.ErrorAs(t, err, &e, "%q", words)
		require.ErrorIs(t, err, ErrServer)
		require.Equal(t, OpError{Op: "name", Server: mc.Addr(), Outcome: Answered, Err: e.Err}, *e)
	}
	_, err = ask("verbosity", "1\r\nflush_all")
	require.ErrorIs(t, err, ErrArgument)
	require.True(t, SafeToRetry(err))
	require.Equal(t, uint64(1), cl.Counters().Dials)
}

// The replies to two groups have no end, so they are never asked for.
func TestStatsWithoutEnd(t *testing.T) {
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
	cl := rawClient(t, nil, mc.Addr())
	for _, group := range []string{"sizes_enable", "sizes_disable"} {
		_, err := cl.Stats(t.Context(), group)
		require.ErrorIs(t, err, ErrArgument)
		_, _, err = direct.Ask(t.Context(), cl, direct.Line{Op: "stats", Words: []string{"stats", group}})
		require.ErrorIs(t, err, ErrArgument)
	}
	_, err := cl.Stats(t.Context(), "sizes")
	require.NoError(t, err)
}
