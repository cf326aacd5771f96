package reader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// poisons: the stream is preceded by the reply to a Line request, so that used
// has to point behind it.
var poisons = []struct {
	name   string
	expect Expect
	stream string
	want   string
}{
	{"another opaque", meta(1, ""), "HD O2\r\n", reasonOpaque},
	{"another opaque with a value", meta(1, ""), "VA 3 O2\r\nabc\r\n", reasonOpaque},
	{"another opaque on a miss", meta(1, ""), "EN O2\r\n", reasonOpaque},
	{"right and wrong opaque", meta(1, ""), "HD O1 O2\r\n", reasonOpaque},
	{"opaque nobody sent", meta(0, ""), "HD O1\r\n", reasonOpaque},
	{"opaque zero nobody sent", meta(0, ""), "HD O0\r\n", reasonOpaque},
	{"opaque without digits", meta(1, ""), "HD O\r\n", reasonOpaque},
	{"opaque in capitals", meta(0xa, ""), "HD OA\r\n", reasonOpaque},
	{"opaque too long", meta(1, ""), "HD O000000001\r\n", reasonOpaque},
	{"opaque cut off by a wide one", meta(1, ""), "HD O100000001\r\n", reasonOpaque},
	{"value without opaque", meta(1, ""), "VA 3 f0\r\nabc\r\n", reasonNoOpaque},
	{"HD without opaque", meta(1, ""), "HD\r\n", reasonNoOpaque},
	{"MN to a request with opaque", meta(1, ""), "MN\r\n", reasonNoOpaque},
	{"MN to a request with key", meta(0, "k"), "MN\r\n", reasonNoKey},
	{"another key", meta(1, "key"), "VA 3 kkez O1\r\nabc\r\n", reasonKey},
	{"key cut short", meta(1, "key"), "HD kke O1\r\n", reasonKey},
	{"key too long", meta(1, "key"), "HD kkeyy O1\r\n", reasonKey},
	{"another key on a miss", meta(1, "key"), "EN O1 kkez\r\n", reasonKey},
	{"value without key", meta(1, "key"), "VA 3 O1\r\nabc\r\n", reasonNoKey},
	{"HD without key", meta(1, "key"), "HD O1\r\n", reasonNoKey},
	{"plain key spelt like the base64 asked for", Expect{Kind: Meta, Key: "YQ==", Base64: true}, "HD kYQ==\r\n", reasonKey},
	{"base64 key spelt like the plain one", Expect{Kind: Meta, Key: "YQ=="}, "HD kYQ== b\r\n", reasonKey},
	{"other plain key for base64", Expect{Kind: Meta, Key: "YQ==", Base64: true}, "HD kb\r\n", reasonKey},
	{"bad base64", meta(0, "a"), "HD k!! b\r\n", reasonKey},
	{"huge base64", meta(0, "a"), "HD k" + strings.Repeat("YWFh", 100) + " b\r\n", reasonKey},

	{"TTL not told", Expect{Kind: Meta, Want: WantTTL | WantIdle}, "HD l0\r\n", reasonNoFlag},
	{"CAS not told with a value", Expect{Kind: Meta, Want: WantCAS}, "VA 1 s1\r\nx\r\n", reasonNoFlag},
	{"fetched twice", meta(1, ""), "HD h2 O1\r\n", reasonNumber},
	{"idle over 32 bits", meta(1, ""), "HD l4294967296 O1\r\n", reasonNumber},
	{"no value though changed", Expect{Kind: Meta, Value: ValueUnless, Unless: 5}, "HD c6\r\n", reasonCAS},
	{"no value and no CAS", Expect{Kind: Meta, Value: ValueUnless, Unless: 5}, "HD\r\n", reasonCAS},
	{"a value though unchanged", Expect{Kind: Meta, Value: ValueUnless, Unless: 5}, "VA 1 c5\r\nx\r\n", reasonCAS},
	{"another key to debug", Expect{Kind: Debug, Key: "key"}, "ME kez exp=-1\r\n", reasonKey},
	{"another base64 key to debug", Expect{Kind: Debug, Key: "YQ==", Base64: true}, "ME b exp=-1\r\n", reasonKey},
	{"no fields to debug", Expect{Kind: Debug, Key: "key"}, "ME key\r\n", reasonHeader},
	{"HD to debug", Expect{Kind: Debug, Key: "key"}, "HD kkey\r\n", reasonShape},
	{"EN and more to debug", Expect{Kind: Debug, Key: "key"}, "EN O1\r\n", reasonShape},
	{"ME to meta", meta(1, ""), "ME k exp=-1\r\n", reasonShape},

	{"VALUE to meta", meta(1, ""), "VALUE k 0 3\r\nabc\r\nEND\r\n", reasonShape},
	{"STAT to meta", meta(1, ""), "STAT a b\r\n", reasonShape},
	{"OK to meta", meta(1, ""), "OK\r\n", reasonShape},
	{"END to meta", meta(1, ""), "END\r\n", reasonShape},
	{"STORED to meta", meta(1, ""), "STORED\r\n", reasonShape},
	{"VA to values", values("k"), "VA 3\r\nabc\r\n", reasonShape},
	{"EN to values", values("k"), "EN\r\n", reasonShape},
	{"STAT to values", values("k"), "STAT a b\r\n", reasonShape},
	{"VALUE to stats", Expect{Kind: Stats}, "VALUE k 0 3\r\nabc\r\n", reasonShape},
	{"HD to stats", Expect{Kind: Stats}, "HD\r\n", reasonShape},
	{"RESET after STAT", Expect{Kind: Stats}, "STAT a b\r\nRESET\r\n", reasonShape},
	{"OK after STAT", Expect{Kind: Stats}, "STAT a b\r\nOK\r\n", reasonShape},
	{"VALUE to line", Expect{Kind: Line}, "VALUE k 0 3\r\nabc\r\n", reasonShape},
	{"VA to line", Expect{Kind: Line}, "VA 3\r\nabc\r\n", reasonShape},
	{"STAT to line", Expect{Kind: Line}, "STAT a b\r\n", reasonShape},
	{"empty line to line", Expect{Kind: Line}, "\r\n", reasonShape},
	{"quiet run: opaque before its first", quiet(3, 2), "NF O2\r\n", reasonOpaque},
	{"quiet run: opaque behind its last", quiet(3, 2), "NF O5\r\n", reasonOpaque},
	{"quiet run: a wide opaque", quiet(3, 2), "NF O100000003\r\n", reasonOpaque},
	{"quiet run: out of order", quiet(3, 2), "NF O4\r\nNF O3\r\n", reasonOpaque},
	{"quiet run: answered twice", quiet(3, 2), "NF O3\r\nNF O3\r\n", reasonOpaque},
	{"quiet run: two opaques", quiet(3, 2), "NF O3 O4\r\n", reasonOpaque},
	{"quiet run: ended before its last", quiet(3, 2), "NF O3\r\nMN\r\n", reasonNoOpaque},
	{"quiet run: another's end", quiet(3, 2), "MN\r\n", reasonNoOpaque},
	{"quiet run: two that cannot be told apart", quiet(3, 2, "a", "b"), "EN\r\nEN\r\n", reasonTooMany},
	{"quiet run: no opaque", quiet(3, 2), "NF\r\n", reasonNoOpaque},
	{"quiet run: MN with an opaque that is no request's", quiet(3, 2), "MN O5\r\n", reasonOpaque},
	{"quiet run: another key", quiet(3, 2, "a", "b"), "VA 1 O3 kb\r\nx\r\n", reasonKey},
	{"quiet run: the next one's key", quiet(3, 2, "a", "YQ=="), "VA 1 O3 kYQ==\r\nx\r\n", reasonKey},
	{"quiet run: no key", quiet(3, 2, "a", "b"), "VA 1 O3\r\nx\r\n", reasonNoKey},
	{"quiet run: a status it cannot have", quiet(3, 2), "EX O3\r\n", reasonShape},
	{"quiet run: a value it cannot have", Expect{Kind: Run, Quiet: true, Opaque: 3, Count: 2, Value: ValueNever}, "VA 1 O3\r\nx\r\n", reasonShape},
	{"quiet run: END", quiet(3, 2), "END\r\n", reasonShape},
	{"quiet run: an error line too many", quiet(3, 1), "SERVER_ERROR\r\nSERVER_ERROR\r\n", reasonTooMany},
	{"quiet run: an error line and all answers", quiet(3, 2), "SERVER_ERROR\r\nNF O3\r\n", reasonTooMany},
	{"quiet run: an error line behind all answers", quiet(3, 2), "NF O4\r\nSERVER_ERROR\r\n", reasonTooMany},
	{"quiet run: ERROR", quiet(3, 2), "ERROR\r\n", reasonError},
	{"loud run: another opaque", loud(3, 2), "HD O4\r\n", reasonOpaque},
	{"loud run: answered twice", loud(3, 2), "HD O3\r\nHD O3\r\n", reasonOpaque},
	{"loud run: success without opaque", loud(3, 2), "HD\r\n", reasonNoOpaque},
	{"loud run: MN", loud(3, 2), "HD O3\r\nMN\r\n", reasonNoOpaque},
	{"loud run: another key", loud(3, 2, "a", "b"), "HD O3 kb\r\n", reasonKey},
	{"loud run: another key on a miss", loud(3, 2, "a", "b"), "EN O3 kb\r\n", reasonKey},
	{"no kind", Expect{}, "HD\r\n", reasonExpect},
	{"unknown kind", Expect{Kind: 77}, "HD\r\n", reasonExpect},
	{"empty line", meta(1, ""), "\r\n", reasonUnknown},
	{"unknown status", meta(1, ""), "XY O1\r\n", reasonUnknown},
	{"status too long", meta(1, ""), "HDX O1\r\n", reasonUnknown},
	{"status in small letters", meta(1, ""), "hd O1\r\n", reasonUnknown},
	{"END with more", values("k"), "END \r\n", reasonShape},

	{"no size", meta(1, ""), "VA\r\n", reasonSize},
	{"empty size", meta(1, ""), "VA  O1\r\n", reasonSize},
	{"negative size", meta(1, ""), "VA -1 O1\r\n", reasonSize},
	{"size over the bound", meta(1, ""), "VA 1073741825 O1\r\n", reasonSize},
	{"size over 64 bits", meta(1, ""), "VA 18446744073709551617 O1\r\n", reasonSize},
	{"size not a number", meta(1, ""), "VA 3x O1\r\n", reasonSize},
	{"flags over 32 bits", meta(1, ""), "VA 3 f4294967296 O1\r\n", reasonNumber},
	{"empty flags", meta(1, ""), "VA 3 f O1\r\n", reasonNumber},
	{"CAS over 64 bits", meta(1, ""), "VA 3 c18446744073709551616 O1\r\n", reasonNumber},
	{"CAS signed", meta(1, ""), "VA 3 c+1 O1\r\n", reasonNumber},
	{"TTL below -1", meta(1, ""), "HD t-2 O1\r\n", reasonNumber},
	{"TTL over 63 bits", meta(1, ""), "HD t9223372036854775808 O1\r\n", reasonNumber},
	{"size flag over the bound", meta(1, ""), "HD s1073741825 O1\r\n", reasonNumber},
	{"CR within", meta(1, ""), "HD c1\rO1\r\n", reasonNumber},

	{"key not asked for", values("a", "b"), "VALUE c 0 1\r\nx\r\n", reasonKey},
	{"keys out of order", values("a", "b"), "VALUE b 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\n", reasonKey},
	{"key once too often", values("a", "b"), "VALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\n", reasonKey},
	{"no keys asked for", values(), "VALUE a 0 1\r\nx\r\n", reasonKey},
	{"empty key", values("a"), "VALUE  0 1\r\nx\r\n", reasonKey},
	{"only a key", values("a"), "VALUE a\r\n", reasonHeader},
	{"no value size", values("a"), "VALUE a 0\r\n", reasonSize},
	{"bad value flags", values("a"), "VALUE a x 1\r\n", reasonNumber},
	{"bad value size", values("a"), "VALUE a 0 x\r\n", reasonSize},
	{"bad value CAS", values("a"), "VALUE a 0 1 x\r\n", reasonNumber},
	{"empty value CAS", values("a"), "VALUE a 0 1 \r\n", reasonNumber},
	{"a number too many", values("a"), "VALUE a 0 1 1 1\r\n", reasonHeader},
	{"bare VALUE", values("a"), "VALUE\r\n", reasonShape},
	{"stat without a name", Expect{Kind: Stats}, "STAT\r\n", reasonHeader},
	{"prefix without a name", Expect{Kind: Stats}, "PREFIX\r\n", reasonHeader},
	{"item with an empty name", Expect{Kind: Stats}, "ITEM  x\r\n", reasonHeader},
	{"stat with an empty name", Expect{Kind: Stats}, "STAT  x\r\n", reasonHeader},

	{"lone LF", meta(1, ""), "HD O1\n", reasonBareLF},
	{"LF at once", meta(1, ""), "\nHD O1\r\n", reasonBareLF},
	{"value too long", meta(1, ""), "VA 3 O1\r\nabcd\r\n", reasonValueEnd},
	{"value too short", meta(1, ""), "VA 3 O1\r\nab\r\nHD\r\n", reasonValueEnd},
	{"value with a lone LF", meta(1, ""), "VA 3 O1\r\nabc\nHD\r\n", reasonValueEnd},
	{"value with a lone CR", meta(1, ""), "VA 3 O1\r\nabc\rHD\r\n", reasonValueEnd},
	{"empty value without its end", meta(1, ""), "VA 0 O1\r\nHD\r\n", reasonValueEnd},

	{"ERROR", meta(1, ""), "ERROR\r\n", reasonError},
	{"ERROR to values", values("a"), "ERROR\r\n", reasonError},
	{"ERROR to line", Expect{Kind: Line}, "ERROR\r\n", reasonError},
	{"ERROR with text", Expect{Kind: Line}, "ERROR: shutdown not enabled\r\n", reasonError},
	{"too many connections", meta(1, ""), "ERROR Too many open connections\r\n", ReasonTooManyConns},
	{"bad data chunk", meta(1, ""), "CLIENT_ERROR bad data chunk\r\n", reasonBadChunk},
	{"bad format", meta(1, ""), "CLIENT_ERROR bad command line format\r\n", reasonBadFormat},
	{"unauthenticated", Expect{Kind: Line}, "CLIENT_ERROR unauthenticated\r\n", ReasonUnauthenticated},
	{"an answer with more to its word", answers, "OKAY\r\n", reasonUnknown},
	{"an answer cut short", answers, "BUS\r\n", reasonUnknown},
	{"an answer of others", answers, "VERSION 1\r\n", reasonShape},
	{"no answer", answers, "\r\n", reasonUnknown},
	{"ERROR to one with a body", Expect{Kind: Line, Answers: []string{"OK"}}, "ERROR\r\n", reasonError},
	{"bad format with a body", Expect{Kind: Line, Answers: []string{"OK"}}, "CLIENT_ERROR bad command line format\r\n", reasonBadFormat},
	{"bad data chunk to a bare line", answers, "CLIENT_ERROR bad data chunk\r\n", reasonBadChunk},
	{"unauthenticated bare line", answers, "CLIENT_ERROR unauthenticated\r\n", ReasonUnauthenticated},
	{"too many connections for a bare line", answers, "ERROR Too many open connections\r\n", ReasonTooManyConns},
	{"ERROR within bare stats", Expect{Kind: Stats, Bare: true}, "STAT a 1\r\nERROR\r\n", reasonError},
	{"line too long", meta(1, ""), "CLIENT_ERROR line too long\r\n", reasonClientError},
	{"too many flags", meta(1, ""), "CLIENT_ERROR options flags too long\r\n", reasonClientError},
	{"bare CLIENT_ERROR", meta(1, ""), "CLIENT_ERROR\r\n", reasonClientError},
	{"known text with more", meta(1, ""), "CLIENT_ERROR invalid flag \r\n", reasonClientError},
}

func TestPoison(t *testing.T) {
	const before = "VERSION 1\r\n"
	for _, c := range poisons {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			expects := []Expect{{Kind: Line}, c.expect, {Kind: Line}}
			o := everywhere(t, expects, []byte(before+c.stream))
			assert.Equal(t, ErrDesync.Error()+": "+c.want, o.err)
			assert.True(t, o.begun, "the slot at fault is known")
			assert.Equal(t, 2, o.taken)
			assert.GreaterOrEqual(t, o.used, len(before))
			for _, e := range o.log {
				assert.NotContains(t, e, "1: done")
			}
		})
	}
}

func TestUnaskedBytes(t *testing.T) {
	o := everywhere(t, []Expect{{Kind: Line}}, []byte("OK\r\nHD\r\n"))
	assert.Equal(t, ErrDesync.Error()+": "+reasonUnasked, o.err)
	assert.Equal(t, 4, o.used)
	assert.False(t, o.begun)
}

func TestLongLine(t *testing.T) {
	for _, tail := range []string{"", "\r\n", "xxxxx\r\n"} {
		stream := []byte("VERSION " + strings.Repeat("x", MaxLine-1-len("VERSION ")) + tail + strings.Repeat("y", 10))
		for _, ends := range [][]int{nil, {1}, {MaxLine - 2}, {MaxLine - 1}, {MaxLine}, {MaxLine + 1}} {
			o := feed(t, []Expect{{Kind: Line}}, stream, nil, ends...)
			assert.Equal(t, ErrDesync.Error()+": "+reasonLongLine, o.err)
			assert.Zero(t, o.used)
			assert.True(t, o.begun)
		}
	}
}

// Error texts are fixed, so that no key or value can get into a log.
func TestPoisonHoldsNoStreamBytes(t *testing.T) {
	for _, s := range []string{"VA 3 ksecret O1\r\nabc\r\n", "secret\r\n", "CLIENT_ERROR secret\r\n", "ERROR secret\r\n", "VALUE secret 0 3\r\n"} {
		for _, e := range []Expect{meta(1, "k"), values("k"), {Kind: Stats}} {
			var log []string
			var p Parser
			_, err := p.Parse([]byte(s), newFIFO([]Expect{e}, &log, nil))
			if e.Kind == Stats && s == "ERROR secret\r\n" {
				continue // an answer like any other
			}
			require.ErrorIs(t, err, ErrDesync)
			require.NotContains(t, err.Error(), "secret")
		}
	}
}
