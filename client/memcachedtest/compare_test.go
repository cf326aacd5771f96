package memcachedtest

import (
	"bufio"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// talker sends requests and takes all they are answered with.
type talker struct {
	c  net.Conn
	in *bufio.Reader
}

func newTalker(t *testing.T, network, addr string) *talker {
	c := dial(t, network, addr)
	return &talker{c: c, in: bufio.NewReader(c)}
}

// say sends a request and returns everything up to the answer of the "mn" that
// it adds, or up to the connection's end.
func (k *talker) say(t *testing.T, request string) string {
	t.Helper()
	require.NoError(t, k.c.SetDeadline(time.Now().Add(20*time.Second)))
	go func() { _, _ = io.WriteString(k.c, request+"mn\r\n") }() // may be closed midway
	var all strings.Builder
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "after %q came only %q", clip(request), all.String())
			return all.String() + "<closed>"
		}
		if line == "MN\r\n" {
			return all.String()
		}
		all.WriteString(line)
	}
}

var casPlace = regexp.MustCompile(`\{cas ([^}]+)\}`)

// expand puts CAS values into a request, which differ from server to server.
func (k *talker) expand(t *testing.T, request string) string {
	return casPlace.ReplaceAllStringFunc(request, func(m string) string {
		answer := k.say(t, "mg "+casPlace.FindStringSubmatch(m)[1]+" c u\r\n")
		cas, ok := strings.CutPrefix(strings.TrimSpace(answer), "HD c")
		require.True(t, ok, answer)
		return cas
	})
}

var casValue = regexp.MustCompile(`(?m)( c)\d+|^(VALUE \S+ \d+ \d+ )\d+`)

func normal(s string) string { return casValue.ReplaceAllString(s, "${1}${2}<cas>") }

func clip(s string) string {
	if len(s) > 120 {
		return s[:100] + "…" + s[len(s)-10:]
	}
	return s
}

// comparisons are requests that build on one another. Those that begin with
// "1.6.18:" have other answers in other versions.
func comparisons() []string {
	long := strings.Repeat("k", 250)
	tooLong := strings.Repeat("k", 251)
	list := []string{
		// misses
		"mg a v\r\n", "mg a\r\n", "mg a v q\r\n", "mg a v k Oabc\r\n", "md a\r\n", "md a q\r\n", "ma a\r\n", "ma a q Ox k\r\n",
		"get a\r\n", "gets a b\r\n", "delete a\r\n", "incr a 1\r\n", "touch a 0\r\n", "gat 0 a\r\n", "me a\r\n",
		// set and get
		"ms a 1\r\nx\r\n", "mg a v f c k s t O1 q\r\n", "mg a\r\n", "mg a s k\r\n", "mg a Oxyz v\r\n", "mg a t h l\r\n",
		"ms a 2 F7 T100 c k Oq1\r\nyy\r\n", "mg a v f t h\r\n", "mg a h\r\n", "mg a h\r\n", "get a\r\n", "gets a\r\n", "gets b a c\r\n",
		"ms a 0\r\n\r\n", "mg a v s\r\n", "get a\r\n", "ms a 5 q\r\nEND\r\n\r\n", "mg a v\r\n", "get a a\r\n",
		"ms a 3 T-1\r\nabc\r\n", "mg a v\r\n", "ms a 3 T0\r\nabc\r\n", "mg a v t\r\n",
		"mg a t T30 t v\r\n", "mg a t\r\n", "mg a T-1\r\n", "mg a v\r\n",
		"ms a 1 F4294967295\r\nx\r\n", "mg a f\r\n", "ms a 1 T2592000\r\nx\r\n", "mg a t\r\n", "ms a 1 T2592001\r\nx\r\n", "mg a t\r\n",
		"md a\r\n", "mg a v\r\n",
		// modes
		"ms m 1 ME\r\n1\r\n", "ms m 1 ME\r\n2\r\n", "ms m 1 MA c k\r\n3\r\n", "ms m 1 MP\r\n0\r\n", "mg m v f s\r\n", "ms m 1 MR F5\r\nr\r\n", "mg m v f\r\n",
		"ms n 1 MR O7 k\r\nr\r\n", "ms n 1 MA\r\nr\r\n", "ms n 1 MP\r\nr\r\n", "ms n 1 MS\r\nr\r\n", "ms n 1 MX\r\nr\r\n", "ms n 1 M\r\nr\r\n",
		"ms n 1 MA T100 F9\r\nr\r\n", "mg n v t f\r\n",
		// cas
		"ms c 1\r\n1\r\n", "ms c 1 C{cas c}\r\n2\r\n", "ms c 1 C1 Oz\r\n3\r\n", "mg c v\r\n", "ms nocas 1 C1 k\r\n3\r\n",
		"ms c 1 C0\r\n3\r\n", "ms c 1 C{cas c} MR q\r\n4\r\n", "ms c 1 C999999999 MA\r\n4\r\n", "ms c 1 C{cas c} MA\r\n4\r\n", "mg c v\r\n",
		"md c C1\r\n", "md c C0 O5 k\r\n", "md c C{cas c}\r\n", "mg c\r\n",
		// stale items and tokens
		"ms s 1\r\n1\r\n", "md s I T60\r\n", "mg s v t\r\n", "mg s v\r\n", "ms s 1 C1 I\r\nz\r\n", "mg s v\r\n", "ms s 1\r\n2\r\n", "mg s v\r\n",
		"mg viv v N30 t\r\n", "mg viv v N30 t k O1\r\n", "mg viv v\r\n", "ms viv 1\r\nv\r\n", "mg viv v\r\n",
		"ms rec 1 T30\r\n1\r\n", "mg rec v R10 t\r\n", "mg rec v R60 t\r\n", "mg rec v R60\r\n", "md rec q\r\n", "mg rec\r\n",
		// numbers
		"ms i 2\r\n10\r\n", "ma i\r\n", "ma i v\r\n", "ma i MD D5 v t c O1 k\r\n", "mg i v\r\n", "ma i MD D100 v\r\n", "mg i v s\r\n", "ma i MI D12345 v q\r\n", "mg i v\r\n",
		"ma i M+ D1\r\n", "ma i M- D2 v\r\n", "ma i MX\r\n", "ma i Dx\r\n", "ma i C1 v\r\n", "ma i C0 v\r\n", "ma i C{cas i} v\r\n",
		"ma j N0 J7 v t\r\n", "ma j N0 J7 v\r\n", "ma j2 N90 J13 D9 v t k Oo q\r\n", "ma j3 N0 q v\r\n", "ma j3 T50 t\r\n", "mg j3 t\r\n",
		"ms i 3\r\nabc\r\n", "ma i O1\r\n", "incr i 1\r\n", "ms i 0\r\n\r\n", "ma i\r\n", "ms i 20\r\n18446744073709551615\r\n", "ma i v\r\n",
		"ms i 2\r\n 5\r\n", "ma i v\r\n", "ms i 3\r\n5 x\r\n", "ma i v\r\n", "ms i 2\r\n5x\r\n", "ma i v\r\n", "ms i 2\r\n-1\r\n", "ma i v\r\n",
		"ms i 1\r\n9\r\n", "incr i 1\r\n", "decr i 3\r\n", "get i\r\n", "decr i 1000\r\n", "incr i x\r\n", "incr i -1\r\n", "incr i 1 noreply\r\n", "get i\r\n",
		// classic stores
		"set k 1 0 3\r\nabc\r\n", "add k 1 0 3\r\nabc\r\n", "replace k 2 0 3\r\ndef\r\n", "append k 9 9 1\r\n!\r\n", "prepend k 9 9 1\r\n?\r\n", "get k\r\n",
		"cas k 0 0 1 1\r\nx\r\n", "cas nope 0 0 1 1\r\nx\r\n", "cas k 0 0 1 {cas k}\r\nx\r\n", "get k\r\n", "set k 0 0 1 noreply\r\ny\r\n", "get k\r\n",
		"replace no 0 0 1\r\nx\r\n", "append no 0 0 1\r\nx\r\n", "touch k 100\r\n", "mg k t\r\n", "gat 50 k\r\n", "gats 50 k no\r\n", "mg k t\r\n", "touch k x\r\n", "gat x k\r\n", "gat 5\r\n",
		"delete k 0\r\n", "delete k 1\r\n", "delete k noreply\r\n", "delete k 0 noreply\r\n", "set k 0 -1 1\r\nx\r\n", "get k\r\n",
		"set k x 0 1\r\n", "set k 0 x 1\r\n", "set k 0 0 x\r\n", "set k 0 0 -1\r\n", "set k 0 0\r\n", "set k\r\n", "cas k 0 0 1 x\r\n", "cas k 0 0 1\r\n",
		// base64 keys
		"ms YWIgY2Q= 1 b k c Oq\r\nx\r\n", "mg YWIgY2Q= v b k\r\n", "mg YWIgY2Q= b k t f\r\n", "mg bWlzcw== b k O2\r\n", "ma bnVt b N0 J5 v k\r\n", "mg num v k\r\n", "mg bnVt v b k\r\n",
		"ms plain 1\r\nx\r\n", "mg cGxhaW4= b k v\r\n", "md YWIgY2Q= b k q O1\r\n", "md YWIgY2Q= b k q O1\r\n",
		// errors in lines
		"\r\n", "x\r\n", "nonsense\r\n", "mx a\r\n", "mg\r\n", "ms\r\n", "md\r\n", "ma\r\n", "get\r\n", "gets\r\n", "ms a\r\n",
		"mg a v v\r\n", "mg a !\r\n", "mg a Ox Oy\r\n", "ms a 1 Z\r\nx\r\n", "ms a 1 k k\r\nx\r\n", "md a Z\r\n", "md a k k\r\n", "ma a Z\r\n", "ma a k k\r\n",
		"mg a Tx\r\n", "mg a Nx\r\n", "mg a Rx\r\n", "mg a Cx\r\n", "ms a 1 Fx\r\nx\r\n", "ms a 1 Cx\r\nx\r\n", "ms a 1 Jx\r\nx\r\n", "ms a 1 Tx MXX\r\nx\r\n",
		"mg a O" + strings.Repeat("o", 31) + "\r\n", "mg a O" + strings.Repeat("o", 32) + "\r\n", "ms a 1 O" + strings.Repeat("o", 32) + "\r\nx\r\n",
		"md a O" + strings.Repeat("o", 32) + "\r\n", "ma a O" + strings.Repeat("o", 32) + "\r\n",
		"mg a 1 2 3 4 5 6 7 8 9 A B C D E F G H I\r\n", "mg a O v k s t c f h l u q b N1 T1 R1 C1 F1 D1 J1\r\n",
		"ms a x\r\n", "ms a -1\r\n", "ms a 1\r\nxyz\r\n", "set a 0 0 1\r\nxyz\r\n",
		"mg " + long + " k\r\n", "ms " + long + " 1 k\r\nx\r\n", "mg " + long + " v k\r\n", "mg " + tooLong + "\r\n", "ms " + tooLong + " 1\r\n",
		"md " + tooLong + "\r\n", "ma " + tooLong + "\r\n", "get " + tooLong + "\r\n", "set " + tooLong + " 0 0 1\r\n", "delete " + tooLong + "\r\n", "incr " + tooLong + " 1\r\n", "touch " + tooLong + " 1\r\n",
		"mg  a   v\r\n", " get a\r\n", "get a\n", "verbosity 1\r\n", "verbosity\r\n", "verbosity x\r\n", "stats nonsense\r\n", "stats reset\r\n",
		"mg a v E1\r\n", "ms a 1 E5\r\nx\r\n", "1.6.18:md a x\r\n", "ms a 1 s\r\nx\r\n", "ms fresh 1 MA N5\r\nx\r\n",
		// sizes (the servers run with 64 KiB)
		"ms big 1\r\nx\r\n", "ms big 70000\r\n" + strings.Repeat("b", 70000) + "\r\n", "mg big v\r\n",
		"set big 0 0 1\r\nx\r\n", "set big 0 0 70000\r\n" + strings.Repeat("b", 70000) + "\r\n", "get big\r\n",
		"set big 0 0 1\r\nx\r\n", "add big 0 0 70000\r\n" + strings.Repeat("b", 70000) + "\r\n", "get big\r\n", "ms big 70000 q Ox\r\n" + strings.Repeat("b", 70000) + "\r\n",
		"get " + strings.Repeat("longkey ", 2000) + "\r\n",
		// the end
		"flush_all\r\n", "get i k a\r\n", "ms a 1\r\nx\r\n", "mg a v\r\n", "flush_all noreply\r\n", "mg a v\r\n", "flush_all x\r\n", "flush_all 0\r\n", "flush_all 100\r\n", "flush_all 1 2 3\r\n",
	}
	for n := 65360; n < 65536; n++ {
		list = append(list, "ms l "+strconv.Itoa(n)+"\r\n"+strings.Repeat("v", n)+"\r\n")
	}
	return list
}

func TestAnswersAsMemcachedDoes(t *testing.T) {
	const limit = 64 << 10
	real := Start(t, Options{ItemLimitBytes: limit})
	network, addr := real.DialAddr()
	theirs := newTalker(t, network, addr)
	fake := NewServer(t, ServerOptions{ItemLimitBytes: limit})
	ours := newTalker(t, "tcp", fake.Addr())
	for _, request := range comparisons() {
		if special, ok := strings.CutPrefix(request, "1.6.18:"); ok {
			if real.Version() != "1.6.18" {
				continue
			}
			request = special
		}
		want := normal(theirs.say(t, theirs.expand(t, request)))
		got := normal(ours.say(t, ours.expand(t, request)))
		assert.Equal(t, want, got, "to %q", clip(request))
	}
}

func TestTooLongALineClosesTheConnection(t *testing.T) {
	real := Start(t, Options{})
	fake := NewServer(t, ServerOptions{})
	for _, addr := range []string{real.Addr(), fake.Addr()} {
		k := newTalker(t, "tcp", addr)
		_, err := io.WriteString(k.c, "mg "+strings.Repeat("x", 3000))
		require.NoError(t, err)
		require.NoError(t, k.c.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = k.in.ReadByte()
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
}

func TestQuitAndMetaDebug(t *testing.T) {
	real := Start(t, Options{})
	fake := NewServer(t, ServerOptions{})
	class := regexp.MustCompile(`cas=\d+|cls=\d+`)
	for _, addr := range []string{real.Addr(), fake.Addr()} {
		k := newTalker(t, "tcp", addr)
		k.say(t, "ms a 1 F1\r\nx\r\n")
		assert.Equal(t, "ME a exp=-1 la=0 # fetch=no # size=65\r\n", class.ReplaceAllString(k.say(t, "me a\r\n"), "#"))
		assert.Contains(t, k.say(t, "stats\r\n"), "STAT curr_items 1\r\n")
		assert.Contains(t, k.say(t, "stats settings\r\n"), "STAT item_size_max 1048576\r\n")
		assert.Contains(t, k.say(t, "version\r\n"), "VERSION 1.")
		assert.Equal(t, "HD\r\n<closed>", k.say(t, "mg a\r\nquit\r\n"))
	}
}
