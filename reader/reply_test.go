package reader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func meta(opaque uint32, key string) Expect { return Expect{Kind: Meta, Opaque: opaque, Key: key} }

// quiet and loud are runs of n requests. Those that carry values have keys, of which
// the second is not asked back.
func quiet(opaque uint32, n int, keys ...string) Expect {
	e := loud(opaque, n, keys...)
	e.Quiet = true
	return e
}

func loud(opaque uint32, n int, keys ...string) Expect {
	e := Expect{Kind: Run, Opaque: opaque, Count: n, Keys: keys}
	if e.Allow = Statuses(OK, NotFound, Miss); len(keys) > 1 {
		e.Keys[1] = "" // not asked back
	}
	return e
}

func values(keys ...string) Expect { return Expect{Kind: Values, Keys: keys} }

// scripts are streams that a server sends, most of them as memcached 1.6.18
// did. Each is also split at every byte, and is the seed of the fuzz tests.
var scripts = []struct {
	name    string
	expects []Expect
	stream  string
	want    []string
}{
	{"get with all flags", []Expect{meta(0x1f, "k")},
		"VA 5 f7 c1 kk t-1 s5 O1f\r\nhello\r\n",
		[]string{"0: value kk n5 f7 c1 t-1", `0: data "hello"`, `0: done 1 "" n0 f0 c0`}},
	{"get without any", []Expect{{Kind: Meta}}, "VA 2\r\n7 \r\n",
		[]string{"0: value n2 f0 c0", `0: data "7 "`, `0: done 1 "" n0 f0 c0`}},
	{"empty value", []Expect{meta(8, "k")}, "VA 0 kk O8 c3\r\n\r\n",
		[]string{"0: value kk n0 f0 c3", `0: done 1 "" n0 f0 c0`}},
	{"value full of protocol", []Expect{meta(1, ""), meta(2, "")},
		"VA 20 O1\r\nEND\r\nHD O2\r\n\r\r\n\n\r\nVA\r\nHD O2\r\n",
		[]string{"0: value n20 f0 c0", `0: data "END\r\nHD O2\r\n\r\r\n\n\r\nVA"`, `0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"largest numbers", []Expect{meta(0xffffffff, "")},
		"VA 1 f4294967295 c18446744073709551615 t9223372036854775807 Offffffff\r\nx\r\n",
		[]string{"0: value n1 f4294967295 c18446744073709551615 t9223372036854775807", `0: data "x"`, `0: done 1 "" n0 f0 c0`}},
	{"lease won, lost, stale", []Expect{meta(1, "l"), meta(2, "l"), meta(3, "l")},
		"VA 0 c15 t30 kl O1 W\r\n\r\nVA 0 c15 t30 kl O2 Z\r\n\r\nVA 1 c17 t30 kl O3 X W\r\n1\r\n",
		[]string{
			"0: value kl n0 f0 c15 t30 W", `0: done 1 "" n0 f0 c0`,
			"1: value kl n0 f0 c15 t30 Z", `1: done 1 "" n0 f0 c0`,
			"2: value kl n1 f0 c17 t30 W X", `2: data "1"`, `2: done 1 "" n0 f0 c0`}},
	{"unknown flags", []Expect{meta(1, "k")}, "HD j1 !55 ?x O1 kk\r\n",
		[]string{`0: done 1 "" kk n0 f0 c0`}},
	{"what was asked for", []Expect{{Kind: Meta, Want: WantTTL | WantIdle | WantFetched | WantSize | WantCAS}, {Kind: Meta, Want: WantTTL}},
		"HD h1 l55 t-1 c5 s3\r\nEN\r\n",
		[]string{`0: done 1 "" n3 f0 c5 t-1 l55 h1`, `1: done 2 "" n0 f0 c0`}},
	{"all flags as sent", []Expect{{Kind: Meta, Raw: true}, {Kind: Meta, Raw: true}}, "VA 1 c5 ?x\r\nv\r\nEX  ! W\r\n",
		[]string{`0: value n1 f0 c5 raw" c5 ?x"`, `0: data "v"`, `0: done 1 "" n0 f0 c0`, `1: done 5 "" n0 f0 c0 W raw"  ! W"`}},
	{"only if changed", []Expect{{Kind: Meta, Value: ValueUnless, Unless: 5}, {Kind: Meta, Value: ValueUnless, Unless: 5}, {Kind: Meta, Value: ValueUnless, Unless: 5}},
		"HD c5 f1\r\nVA 1 c6\r\nv\r\nEN\r\n",
		[]string{`0: done 7 "" n0 f1 c5`, "1: value n1 f0 c6", `1: data "v"`, `1: done 1 "" n0 f0 c0`, `2: done 2 "" n0 f0 c0`}},
	{"debug", []Expect{{Kind: Debug, Key: "k"}, {Kind: Debug, Key: "a"}, {Kind: Debug, Key: "YQ==", Base64: true}, {Kind: Debug, Key: "k"}},
		"ME k exp=-1 la=0\r\nME YQ== x=y\r\nME a x=y\r\nEN\r\n",
		[]string{`0: done 1 "ME k exp=-1 la=0" n0 f0 c0`, `1: done 1 "ME YQ== x=y" n0 f0 c0`, `2: done 1 "ME a x=y" n0 f0 c0`, `3: done 2 "" n0 f0 c0`}},
	{"flags of a reply without value", []Expect{meta(0xf, "k")}, "HD f7 c1 kk t30 s5 Of W X Z\r\n",
		[]string{`0: done 1 "" kk n5 f7 c1 t30 W X Z`}},
	{"statuses", []Expect{meta(1, "k"), meta(2, "k"), meta(3, "k"), meta(4, "k"), meta(5, "k"), {Kind: Meta}},
		"HD O1 kk\r\nEN kk O2\r\nNF kk O3\r\nNS kk O4 c0\r\nEX kk O5 c0\r\nMN\r\n",
		[]string{`0: done 1 "" kk n0 f0 c0`, `1: done 2 "" kk n0 f0 c0`, `2: done 3 "" kk n0 f0 c0`,
			`3: done 4 "" kk n0 f0 c0`, `4: done 5 "" kk n0 f0 c0`, `5: done 1 "" n0 f0 c0`}},
	{"bare misses of old servers", []Expect{meta(1, "k"), meta(2, "k"), meta(3, "k"), meta(4, "k")},
		"EN\r\nNF\r\nNS\r\nEX\r\n",
		[]string{`0: done 2 "" n0 f0 c0`, `1: done 3 "" n0 f0 c0`, `2: done 4 "" n0 f0 c0`, `3: done 5 "" n0 f0 c0`}},
	{"padded counter", []Expect{meta(0xb, "ctr")}, "VA 2 t-1 c5 kctr Ob\r\n5 \r\n",
		[]string{"0: value kctr n2 f0 c5 t-1", `0: data "5 "`, `0: done 1 "" n0 f0 c0`}},
	{"base64 asked, plain and base64 returned",
		[]Expect{{Kind: Meta, Key: "YQ==", Base64: true}, {Kind: Meta, Key: "YQ==", Base64: true}},
		"VA 1 ka\r\nx\r\nHD kYQ== b\r\n",
		[]string{"0: value ka n1 f0 c0", `0: data "x"`, `0: done 1 "" n0 f0 c0`, `1: done 1 "" kYQ== n0 f0 c0`}},
	{"plain asked, base64 returned", []Expect{meta(2, "a")}, "VA 2 kYQ== b O2\r\nhi\r\n",
		[]string{"0: value kYQ== n2 f0 c0", `0: data "hi"`, `0: done 1 "" n0 f0 c0`}},
	{"unknown group of statistics", []Expect{{Kind: Stats}, meta(1, "")}, "ERROR\r\nHD O1\r\n",
		[]string{`0: done 6 "ERROR" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"errors in sync, then a hit",
		[]Expect{meta(1, "k"), meta(2, "k"), meta(3, "k"), meta(4, "k")},
		"SERVER_ERROR object too large for cache\r\nCLIENT_ERROR invalid flag\r\nSERVER_ERROR\r\nHD kk O4\r\n",
		[]string{`0: done 6 "SERVER_ERROR object too large for cache" n0 f0 c0`,
			`1: done 6 "CLIENT_ERROR invalid flag" n0 f0 c0`, `2: done 6 "SERVER_ERROR" n0 f0 c0`, `3: done 1 "" kk n0 f0 c0`}},
	{"gets", []Expect{values("a", "zz", "b", "c"), meta(1, "")},
		"VALUE a 3 2 9\r\naa\r\nVALUE b 0 0 10\r\n\r\nVALUE c 4294967295 2 11\r\ncc\r\nEND\r\nHD O1\r\n",
		[]string{"0: value ka n2 f3 c9", `0: data "aa"`, "0: value kb n0 f0 c10 #2",
			"0: value kc n2 f4294967295 c11 #3", `0: data "cc"`, `0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"get of a key twice", []Expect{values("a", "a", "b")}, "VALUE a 3 2\r\naa\r\nVALUE a 3 2\r\nEN\r\nEND\r\n",
		[]string{"0: value ka n2 f3 c0", `0: data "aa"`, "0: value ka n2 f3 c0 #1", `0: data "EN"`, `0: done 1 "" n0 f0 c0`}},
	{"all missed", []Expect{values("a"), values("b")}, "END\r\nEND\r\n",
		[]string{`0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"gets cut short", []Expect{values("a", "b"), values("a")},
		"VALUE a 0 1 1\r\nx\r\nSERVER_ERROR out of memory writing get response\r\nVALUE a 0 1 1\r\nx\r\nEND\r\n",
		[]string{"0: value ka n1 f0 c1", `0: data "x"`,
			`0: done 6 "SERVER_ERROR out of memory writing get response" n0 f0 c0`,
			"1: value ka n1 f0 c1", `1: data "x"`, `1: done 1 "" n0 f0 c0`}},
	{"quiet deletes", []Expect{quiet(0xe, 4), quiet(1, 2), meta(3, "")}, "NF O10\r\nNF O11\r\nMN\r\nHD O2\r\nMN\r\nHD O3\r\n",
		[]string{`0: answer 2 3 "" n0 f0 c0`, `0: answer 3 3 "" n0 f0 c0`, `0: done 1 "" n0 f0 c0`, `1: answer 1 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`, `2: done 1 "" n0 f0 c0`}},
	{"quiet deletes, some refused", []Expect{quiet(1, 5)}, "SERVER_ERROR busy\r\nNF O2\r\nSERVER_ERROR busy\r\nCLIENT_ERROR invalid flag\r\nMN\r\n",
		[]string{`0: answer 0 6 "SERVER_ERROR busy" n0 f0 c0`, `0: answer 1 3 "" n0 f0 c0`,
			`0: answer 2 6 "SERVER_ERROR busy" n0 f0 c0`, `0: answer 2 6 "CLIENT_ERROR invalid flag" n0 f0 c0`, `0: done 1 "" n0 f0 c0`}},
	{"a server that is not quiet", []Expect{quiet(1, 3)}, "HD O1\r\nHD O2\r\nNF O3\r\nMN\r\n",
		[]string{`0: answer 0 1 "" n0 f0 c0`, `0: answer 1 1 "" n0 f0 c0`, `0: answer 2 3 "" n0 f0 c0`, `0: done 1 "" n0 f0 c0`}},
	{"loud touches", []Expect{loud(9, 4), meta(1, "")}, "HD O9\r\nEN\r\nSERVER_ERROR busy\r\nEN Oc\r\nHD O1\r\n",
		[]string{`0: answer 0 1 "" n0 f0 c0`, `0: answer 1 2 "" n0 f0 c0`, `0: answer 2 6 "SERVER_ERROR busy" n0 f0 c0`,
			`0: answer 3 2 "" n0 f0 c0`, `0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"quiet gets", []Expect{quiet(1, 3, "a", "Yg==", "c")}, "VA 1 O2 kb f0 c7\r\nx\r\nVA 0 O3 kc\r\n\r\nMN\r\n",
		[]string{`0: value kb n1 f0 c7 #1`, `0: data "x"`, `0: value kc n0 f0 c0 #2`, `0: done 1 "" n0 f0 c0`}},
	{"quiet gets, misses of an old server", []Expect{quiet(1, 3, "a", "b", "c"), quiet(4, 2, "a", "b")}, "VA 0 O1 ka\r\n\r\nEN\r\nMN\r\nEN\r\nMN\r\n",
		[]string{`0: value ka n0 f0 c0`, `0: answer 2 2 "" n0 f0 c0`, `0: done 1 "" n0 f0 c0`, `1: answer 1 2 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"loud gets", []Expect{loud(1, 2, "a", "YQ=="), meta(5, "")}, "VA 0 O1 ka W\r\n\r\nVA 3 O2 kYQ== b Z\r\nMN\r\r\nHD O5\r\n",
		[]string{`0: value ka n0 f0 c0 W`, `0: value kYQ== n3 f0 c0 #1 Z`, `0: data "MN\r"`, `0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
	{"stats", []Expect{{Kind: Stats}, {Kind: Stats}, {Kind: Stats}, {Kind: Stats}},
		"STAT pid 9169\r\nSTAT addr unix:/a b  c\r\nSTAT empty \r\nSTAT none\r\nEND\r\nRESET\r\nOK\r\nEND\r\n",
		[]string{`0: stat "pid" "9169"`, `0: stat "addr" "unix:/a b  c"`, `0: stat "empty" ""`, `0: stat "none" ""`,
			`0: done 1 "" n0 f0 c0`, `1: done 1 "" n0 f0 c0`, `2: done 1 "" n0 f0 c0`, `3: done 1 "" n0 f0 c0`}},
	{"stats of other shapes", []Expect{{Kind: Stats}, {Kind: Stats}, {Kind: Stats}, {Kind: Stats}},
		"PREFIX pre get 1 hit 0\r\nPREFIX  get 2 hit 0\r\nEND\r\nITEM c [2 b; 0 s]\r\nEND\r\n" +
			"CLIENT_ERROR Illegal slab id\r\nSTAT a 1\r\nSERVER_ERROR out of memory writing stats\r\n",
		[]string{`0: stat "pre" "get 1 hit 0"`, `0: stat "" "get 2 hit 0"`, `0: done 1 "" n0 f0 c0`, `1: stat "c" "[2 b; 0 s]"`, `1: done 1 "" n0 f0 c0`,
			`2: done 6 "CLIENT_ERROR Illegal slab id" n0 f0 c0`, `3: stat "a" "1"`,
			`3: done 6 "SERVER_ERROR out of memory writing stats" n0 f0 c0`}},
	{"lines", []Expect{{Kind: Line}, {Kind: Line}, {Kind: Line}, {Kind: Line}, {Kind: Line}, {Kind: Line}},
		"VERSION 1.6.18\r\nOK\r\nME k exp=-1 la=1\r\nSTORED\r\nCLIENT_ERROR authentication failure\r\nSERVER_ERROR: odd\r\n",
		[]string{`0: done 1 "VERSION 1.6.18" n0 f0 c0`, `1: done 1 "OK" n0 f0 c0`, `2: done 1 "ME k exp=-1 la=1" n0 f0 c0`,
			`3: done 1 "STORED" n0 f0 c0`, `4: done 6 "CLIENT_ERROR authentication failure" n0 f0 c0`,
			`5: done 6 "SERVER_ERROR: odd" n0 f0 c0`}},
	{"one of several answers", []Expect{answers, answers, answers, answers, answers, answers},
		"OK\r\nBUSY try later\r\nSTAT x on\r\nERROR\r\nCLIENT_ERROR bad command line format\r\nCLIENT_ERROR never heard of\r\n",
		[]string{`0: done 1 "OK" n0 f0 c0`, `1: done 1 "BUSY try later" n0 f0 c0`, `2: done 1 "STAT x on" n0 f0 c0`,
			`3: done 6 "ERROR" n0 f0 c0`, `4: done 6 "CLIENT_ERROR bad command line format" n0 f0 c0`,
			`5: done 6 "CLIENT_ERROR never heard of" n0 f0 c0`}},
	{"an answer that looks like an error", []Expect{{Kind: Line, Answers: []string{"ERROR"}}}, "ERROR locked\r\n",
		[]string{`0: done 1 "ERROR locked" n0 f0 c0`}},
	{"a bad bare stats", []Expect{{Kind: Stats, Bare: true}, meta(1, "")}, "CLIENT_ERROR bad command line format\r\nHD O1\r\n",
		[]string{`0: done 6 "CLIENT_ERROR bad command line format" n0 f0 c0`, `1: done 1 "" n0 f0 c0`}},
}

var answers = Expect{Kind: Line, Answers: []string{"OK", "BUSY", "STAT x"}, Bare: true}

// TestReplies also is the proof that nothing depends on where a window ends.
func TestReplies(t *testing.T) {
	for _, s := range scripts {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			o := everywhere(t, s.expects, []byte(s.stream))
			assert.Equal(t, s.want, o.log)
			assert.Empty(t, o.err)
			assert.Equal(t, len(s.stream), o.used)
			assert.Equal(t, len(s.expects), o.taken)
			assert.False(t, o.begun)
		})
	}
}

// A tombstone consumes its reply whole and leaves its neighbours in sync.
func TestTombstones(t *testing.T) {
	stream := "VA 3 O1\r\nold\r\nVALUE a 0 1\r\nx\r\nEND\r\nSTAT a b\r\nEND\r\nVERSION 1\r\nVA 3 O5\r\nnew\r\n"
	expects := []Expect{meta(1, ""), values("a"), {Kind: Stats}, {Kind: Line}, meta(5, "")}
	for i := range stream {
		o := feed(t, expects, []byte(stream), map[int]bool{0: true, 1: true, 2: true, 3: true}, i)
		assert.Empty(t, o.err)
		assert.Equal(t, []string{"4: value n3 f0 c0", `4: data "new"`, `4: done 1 "" n0 f0 c0`}, o.log)
	}
}

// The longest line that may pass is MaxLine bytes with its end.
func TestLongestLine(t *testing.T) {
	line := "VERSION " + strings.Repeat("x", MaxLine-2-len("VERSION "))
	for _, ends := range [][]int{nil, {MaxLine - 2}, {MaxLine - 1}, {100, 5000}} {
		o := feed(t, []Expect{{Kind: Line}}, []byte(line+"\r\n"), nil, ends...)
		assert.Empty(t, o.err)
		assert.Len(t, o.log, 1)
	}
}
