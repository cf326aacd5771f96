package reader

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exchange is a random request and what a server could answer.
type exchange struct {
	expect Expect
	reply  []byte
	log    []string // without the slot's number
}

func (x *exchange) say(format string, args ...any) {
	x.log = append(x.log, fmt.Sprintf(format, args...))
}

// trap is text that a value is likely to hold if it is to be taken for
// replies.
var trap = []string{"\r\n", "\n", "\r", "END\r\n", "HD O1\r\n", "VA 2 O1\r\nxx\r\n", "VALUE a 0 1\r\nx\r\n", "ERROR\r\n", "x", "0"}

func randomValue(r *rand.Rand) []byte {
	switch r.IntN(4) {
	case 0:
		return nil
	case 1: // may be longer than any line
		return bytes.Repeat([]byte("v"), r.IntN(2*MaxLine))
	}
	var v []byte
	for range r.IntN(12) {
		v = append(v, trap[r.IntN(len(trap))]...)
	}
	return v
}

func randomKey(r *rand.Rand) string {
	return fmt.Sprintf("k%0*d", 1+r.IntN(60), r.IntN(1000))
}

func (x *exchange) value(it Item, v []byte) {
	it.Size = len(v)
	x.say("value %s", itemText(&it))
	if len(v) > 0 {
		x.say("data %q", v)
	}
	x.reply = append(append(x.reply, v...), "\r\n"...)
}

func (x *exchange) done(status Status, line string, it Item) {
	x.say("done %d %q %s", status, line, itemText(&it))
}

// failed ends the reply with an error line after which the stream is in sync.
func (x *exchange) failed(r *rand.Rand) {
	line := "SERVER_ERROR out of memory writing get response"
	if r.IntN(2) == 0 {
		line = "CLIENT_ERROR invalid flag"
	}
	x.reply = fmt.Appendf(x.reply, "%s\r\n", line)
	x.done(Failed, line, Item{})
}

func randomMeta(r *rand.Rand, x *exchange) {
	x.expect = Expect{Kind: Meta, Opaque: r.Uint32() >> r.IntN(32)}
	key := randomKey(r)
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	var it Item
	var flags []string
	add := func(format string, args ...any) { flags = append(flags, fmt.Sprintf(format, args...)) }
	if x.expect.Opaque != 0 {
		add("O%x", x.expect.Opaque)
	}
	if r.IntN(4) > 0 {
		x.expect.Key, x.expect.Base64 = key, r.IntN(4) == 0
		if x.expect.Base64 {
			x.expect.Key = coded
		}
		if r.IntN(4) == 0 {
			it.Key = []byte(coded)
			add("k%s b", coded)
		} else {
			it.Key = []byte(key)
			add("k%s", key)
		}
	}
	if r.IntN(2) == 0 {
		it.Flags, it.CAS = r.Uint32(), r.Uint64()>>r.IntN(64)
		add("f%d", it.Flags)
		add("c%d", it.CAS)
	}
	if r.IntN(3) == 0 {
		it.HasTTL, it.TTL = true, r.Int64N(1000)-1
		add("t%d", it.TTL)
	}
	if r.IntN(3) == 0 {
		it.Idle, it.Fetched = r.Uint32N(1000), r.IntN(2) == 0
		add("l%d", it.Idle)
		add("h%d", map[bool]int{true: 1}[it.Fetched])
		x.expect.Want = WantIdle | WantFetched
	}
	r.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	switch r.IntN(6) {
	case 0:
		it.Won = true
		add("W")
	case 1:
		it.Stale, it.Leased = true, true
		add("X")
		add("Z")
	}
	tail := ""
	for _, f := range flags {
		tail += " " + f
	}
	switch n := r.IntN(10); {
	case n == 0:
		x.failed(r)
	case n < 4:
		i := r.IntN(5)
		x.reply = fmt.Appendf(x.reply, "%s%s\r\n", []string{"HD", "EN", "NF", "NS", "EX"}[i], tail)
		x.done([]Status{OK, Miss, NotFound, NotStored, Exists}[i], "", it)
	default:
		v := randomValue(r)
		x.reply = fmt.Appendf(x.reply, "VA %d%s\r\n", len(v), tail)
		x.value(it, v)
		x.done(OK, "", Item{})
	}
}

func randomValues(r *rand.Rand, x *exchange) {
	x.expect.Kind = Values
	for range 1 + r.IntN(20) {
		key := randomKey(r)
		x.expect.Keys = append(x.expect.Keys, key)
		if r.IntN(3) == 0 {
			continue
		}
		v := randomValue(r)
		it := Item{Key: []byte(key), Flags: r.Uint32(), Index: len(x.expect.Keys) - 1}
		x.reply = fmt.Appendf(x.reply, "VALUE %s %d %d", key, it.Flags, len(v))
		if r.IntN(3) > 0 {
			it.CAS = r.Uint64()
			x.reply = fmt.Appendf(x.reply, " %d", it.CAS)
		}
		x.reply = append(x.reply, "\r\n"...)
		x.value(it, v)
	}
	if r.IntN(8) == 0 {
		x.failed(r)
		return
	}
	x.reply = append(x.reply, "END\r\n"...)
	x.done(OK, "", Item{})
}

// randomRun is a run of gets or of deletes, quiet or loud.
func randomRun(r *rand.Rand, x *exchange) {
	n := 1 + r.IntN(20)
	x.expect = Expect{Kind: Run, Opaque: 1 + r.Uint32N(1<<31), Count: n, Quiet: r.IntN(2) == 0}
	values := r.IntN(2) == 0
	hidden := 0 // since the last answer
	for i := range n {
		opaque := x.expect.Opaque + uint32(i)
		it := Item{Index: i}
		key := ""
		if values {
			key = randomKey(r)
			it.Key = []byte(key)
			asked := key
			if key = " k" + key; r.IntN(4) == 0 {
				asked = ""
				if r.IntN(2) == 0 {
					key, it.Key = "", nil
				}
			}
			x.expect.Keys = append(x.expect.Keys, asked)
		}
		switch k := r.IntN(10); {
		case k == 0:
			line := "SERVER_ERROR busy"
			x.reply = fmt.Appendf(x.reply, "%s\r\n", line)
			first := i
			if x.expect.Quiet {
				first, hidden = i-hidden, hidden+1
			}
			x.say("answer %d %d %q %s", first, Failed, line, itemText(&Item{}))
		case k < 4 && x.expect.Quiet && i < n-1: // the last one is loud
			hidden++
		case k < 4 && x.expect.Quiet && values:
			x.reply = append(x.reply, "EN\r\n"...)
			x.say("answer %d %d %q %s", i, Miss, "", itemText(&Item{}))
		case values && k < 8:
			v := randomValue(r)
			it.CAS = r.Uint64()
			x.reply = fmt.Appendf(x.reply, "VA %d O%x%s c%d\r\n", len(v), opaque, key, it.CAS)
			x.value(it, v)
			hidden = 0
		default:
			x.reply = fmt.Appendf(x.reply, "NF O%x%s\r\n", opaque, key)
			it.Index = 0
			x.say("answer %d %d %q %s", i, NotFound, "", itemText(&it))
			hidden = 0
		}
	}
	if x.expect.Quiet {
		x.reply = append(x.reply, "MN\r\n"...)
	}
	x.done(OK, "", Item{})
}

func randomStats(r *rand.Rand, x *exchange) {
	x.expect.Kind = Stats
	n := r.IntN(6)
	for i := range n {
		x.reply = fmt.Appendf(x.reply, "STAT name%d a b %d\r\n", i, i)
		x.say("stat %q %q", fmt.Sprintf("name%d", i), fmt.Sprintf("a b %d", i))
	}
	end := "END"
	if n == 0 {
		end = []string{"END", "RESET", "OK"}[r.IntN(3)]
	}
	x.reply = append(x.reply, end+"\r\n"...)
	x.done(OK, "", Item{})
}

func randomDebug(r *rand.Rand, x *exchange) {
	key := randomKey(r)
	x.expect = Expect{Kind: Debug, Key: key}
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	if x.expect.Base64 = r.IntN(2) == 0; x.expect.Base64 {
		x.expect.Key = coded
	}
	switch r.IntN(4) {
	case 0:
		x.failed(r)
		return
	case 1:
		x.reply = append(x.reply, "EN\r\n"...)
		x.done(Miss, "", Item{})
		return
	case 2:
		key = coded
	}
	line := "ME " + key + " exp=-1 la=0 cas=1"
	x.reply = append(x.reply, line+"\r\n"...)
	x.done(OK, line, Item{})
}

func randomLine(r *rand.Rand, x *exchange) {
	x.expect.Kind = Line
	line := []string{"OK", "VERSION 1.6.18", "STORED", "EN", "ME k exp=-1"}[r.IntN(5)]
	x.reply = append(x.reply, line+"\r\n"...)
	x.done(OK, line, Item{})
}

// session is a stream of random exchanges, some of them tombstones.
type session struct {
	expects []Expect
	tombs   map[int]bool
	stream  []byte
	ends    []int    // of each reply in stream
	log     []string // what the slots that are none have to be told
	upto    []int    // length of log after each reply
}

func newSession(r *rand.Rand) *session {
	s := &session{tombs: map[int]bool{}}
	for i := range 1 + r.IntN(12) {
		var x exchange
		switch r.IntN(9) {
		case 7, 8:
			randomRun(r, &x)
		case 0:
			randomValues(r, &x)
		case 1:
			randomStats(r, &x)
		case 2:
			randomLine(r, &x)
		case 3:
			randomDebug(r, &x)
		default:
			randomMeta(r, &x)
		}
		s.expects = append(s.expects, x.expect)
		s.stream = append(s.stream, x.reply...)
		s.ends = append(s.ends, len(s.stream))
		if s.tombs[i] = r.IntN(4) == 0; !s.tombs[i] {
			for _, l := range x.log {
				s.log = append(s.log, fmt.Sprintf("%d: %s", i, l))
			}
		}
		s.upto = append(s.upto, len(s.log))
	}
	return s
}

func randomEnds(r *rand.Rand, length int) (ends []int) {
	for range r.IntN(30) {
		ends = append(ends, r.IntN(length+1))
	}
	slices.Sort(ends)
	return ends
}

// mutate damages one place of stream and returns which.
func mutate(r *rand.Rand, stream []byte) (damaged []byte, at int) {
	at = r.IntN(len(stream))
	switch r.IntN(5) {
	case 0:
		return slices.Delete(bytes.Clone(stream), at, at+1), at
	case 1:
		return slices.Insert(bytes.Clone(stream), at, []byte(trap[r.IntN(len(trap))])...), at
	case 2: // a piece is lost, as when two replies ran into one another
		return slices.Delete(bytes.Clone(stream), at, at+1+r.IntN(len(stream)-at)), at
	case 3:
		damaged = bytes.Clone(stream)
		damaged[at] ^= 1 << r.IntN(8)
		return damaged, at
	default:
		damaged = bytes.Clone(stream)
		damaged[at] = "0123456789 \r\nVHEkOc"[r.IntN(19)]
		return damaged, at
	}
}

func checkSession(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	s := newSession(r)
	want := outcome{log: s.log, used: len(s.stream), taken: len(s.expects)}
	for range 3 {
		require.Equal(t, want, feed(t, s.expects, s.stream, s.tombs, randomEnds(r, len(s.stream))...))
	}
	for range 4 {
		damaged, at := mutate(r, s.stream)
		whole := feed(t, s.expects, damaged, s.tombs)
		require.Equal(t, whole, feed(t, s.expects, damaged, s.tombs, randomEnds(r, len(damaged))...))
		// What came whole before the damage was delivered as sent. A reply
		// that ends right there is safe too, its bytes being complete.
		for i, end := range s.ends {
			if n := s.upto[i]; end <= at && n > 0 {
				require.GreaterOrEqual(t, len(whole.log), n)
				require.Equal(t, s.log[:n], whole.log[:n])
			}
		}
	}
}

// FuzzSession: a valid stream is delivered as it was sent, and one that is
// damaged in one place is delivered as sent up to there.
func FuzzSession(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(checkSession)
}
