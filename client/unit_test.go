package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExptime(t *testing.T) {
	for ttl, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, 30 * 24 * time.Hour: relativeMax,
	} {
		got, err := exptime(ttl)
		require.NoError(t, err)
		assert.Equal(t, want, got, ttl)
	}
	got, err := exptime(30*24*time.Hour + 1)
	require.NoError(t, err)
	assert.InDelta(t, time.Now().Unix()+relativeMax+1, got, 10, "absolute")
}

// Golden choices: they must never change, or every cache out there is cold.
func TestStateString(t *testing.T) {
	require.Equal(t, "won|stale", (Won | Stale).String())
	require.Equal(t, "claimed", Claimed.String())
	require.Empty(t, State(0).String())
}

func TestRendezvousIsStable(t *testing.T) {
	s := Rendezvous([]string{"10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211", "unix:/run/memcached.sock"})
	var got strings.Builder
	for i := range 40 {
		fmt.Fprint(&got, s.Pick(fmt.Sprint("key-", i)))
	}
	assert.Equal(t, goldenPicks, got.String())
}

func TestRendezvousSpreadsEvenlyAndMovesLittle(t *testing.T) {
	servers := []string{"a:1", "b:1", "c:1", "d:1", "e:1"}
	five, four := Rendezvous(servers), Rendezvous(servers[:4])
	reversed := Rendezvous([]string{"e:1", "d:1", "c:1", "b:1", "a:1"})
	const n = 100_000
	count := make([]int, 5)
	for i := range n {
		key := fmt.Sprint("user:", i)
		p := five.Pick(key)
		count[p]++
		if p < 4 {
			require.Equal(t, p, four.Pick(key), "only the lost server's keys move")
		}
		require.Equal(t, p, 4-reversed.Pick(key), "the order does not matter")
	}
	for _, c := range count {
		assert.InEpsilon(t, n/5, c, 0.05)
	}
}

// oneRequest is the run of a single key, which is one request.
func oneRequest(w wireKey) *run {
	r := new(run)
	r.add(w, w.stored)
	return r
}

// No key, value or number can inject a command: every head is one line.
func FuzzRequestIsOneLine(f *testing.F) {
	for v := range verbs {
		f.Add(uint8(v), "key", uint32(0), int64(0), uint64(1), uint32(7), "hint")
		f.Add(uint8(v), "a\r\nflush_all", uint32(1), int64(1<<40), ^uint64(0), uint32(0xffffffff), "h\r\nflush_all")
		f.Add(uint8(v), strings.Repeat("k", 250), uint32(1), int64(1<<40), uint64(1e18)|0x7f, uint32(0xffffffff), strings.Repeat("L", MaxHintLen))
	}
	for n, text := range []string{"v!f!", "T0c!", "v!s!t!k!", "C5v!", "M+D1", "", "", "E\r\n", "q!", "zzyyxxwwvvuuttssrrqqppoonnmmllkkjj", "PaLb"} {
		f.Add(uint8(verbMeta), "key", uint32(0), int64(0), uint64(n), uint32(7), text)
	}
	f.Fuzz(func(t *testing.T, v uint8, key string, flags uint32, ttl int64, n uint64, opaque uint32, text string) {
		exp, err := exptime(time.Duration(ttl))
		keys := keyspace{binary: n%3 > 0, hash: n%5 > 0}
		w, kerr := keys.wire(key)
		if err != nil || kerr != nil {
			return // refused, and so never sent
		}
		r := request{
			verb: verb(v % uint8(verbs)), key: key, wire: w, run: oneRequest(w), flags: flags,
			exptime: exp, cas: n, delta: n, initial: n, create: n%2 == 0,
		}
		if r.verb == verbStats || r.verb == verbLine {
			r.extra()
		}
		if applyFuzzed(&r, n, text) != nil {
			return
		}
		line := string(r.appendHead(nil, opaque))
		require.True(t, strings.HasSuffix(line, "\r\n"))
		line = line[:len(line)-2]
		require.NotContains(t, line, "\r")
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "\x00")
		require.LessOrEqual(t, len(strings.Fields(line)), 19, "memcached takes at most 20 tokens, of which some versions count the line's end as one")
		require.LessOrEqual(t, len(line), 2048, "memcached closes on longer lines")
	})
}

const goldenPicks = "3330122021012000322023111000330033032322"
