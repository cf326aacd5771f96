package reader

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// sink is the cheapest slot: it looks at nothing, and is its own queue.
type sink struct {
	expect Expect
	bytes  int
	done   int
}

func (s *sink) Next() Slot          { return s }
func (s *sink) Expect() *Expect     { return &s.expect }
func (s *sink) Value(*Item)         {}
func (s *sink) Chunk(p []byte)      { s.bytes += len(p) }
func (s *sink) Answer(int, *Result) {}
func (s *sink) Stat(_, val []byte)  { s.bytes += len(val) }
func (s *sink) Done(*Result)        { s.done++ }

// pieces is one reply and where its windows end.
type pieces struct {
	name    string
	expect  Expect
	windows [][]byte // presented in turn; each has to be used up, or is a prefix of the next
}

func hotReplies() []pieces {
	const opaque = 0x1a2b
	const key = "user:1234567:profile"
	kib := bytes.Repeat([]byte("x"), 1024)
	header := []byte("VA 1024 f0 c123456789 k" + key + " O1a2b\r\n")
	hit := append(append(bytes.Clone(header), kib...), "\r\n"...)

	var keys []string
	var multi []byte
	for i := range 40 {
		keys = append(keys, fmt.Sprintf("%s:%d", key, i))
		multi = fmt.Appendf(multi, "VALUE %s 0 100 %d\r\n%s\r\n", keys[i], 1000+i, kib[:100])
	}
	multi = append(multi, "END\r\n"...)

	hitExpect := meta(opaque, key)
	return []pieces{
		{"VA1KiB", hitExpect, [][]byte{hit}},
		{"VA1KiBUnverifiedKey", meta(opaque, ""), [][]byte{hit}},
		{"VA1KiBHeaderSplit", hitExpect, [][]byte{hit[:20], hit}},
		{"VA1KiBValueSplit", hitExpect, [][]byte{hit[:len(header)+500], hit[len(header)+500:]}},
		{"VA1KiBEndsWithWindow", hitExpect, [][]byte{hit[:len(hit)-2], hit[len(hit)-2:]}},
		{"HD", hitExpect, [][]byte{[]byte("HD k" + key + " O1a2b\r\n")}},
		{"EN", hitExpect, [][]byte{[]byte("EN k" + key + " O1a2b\r\n")}},
		{"VALUE40x100", values(keys...), [][]byte{multi}},
		{"STAT", Expect{Kind: Stats}, [][]byte{[]byte("STAT pid 1\r\nSTAT version 1.6.18\r\nEND\r\n")}},
		{"Line", Expect{Kind: Line}, [][]byte{[]byte("VERSION 1.6.18\r\n")}},
		{"Failed", hitExpect, [][]byte{[]byte("SERVER_ERROR object too large for cache\r\n")}},
		{"FailedClient", hitExpect, [][]byte{[]byte("CLIENT_ERROR cannot increment or decrement non-numeric value\r\n")}},
		{"Base64", Expect{Kind: Meta, Opaque: opaque, Key: "YQ==", Base64: true}, [][]byte{[]byte("HD ka O1a2b\r\n")}},
		{"Base64Returned", meta(opaque, "a"), [][]byte{[]byte("HD kYQ== b O1a2b\r\n")}},
	}
}

func BenchmarkParse(b *testing.B) {
	for _, r := range hotReplies() {
		b.Run(r.name, func(b *testing.B) {
			s := &sink{expect: r.expect}
			var p Parser
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				for _, w := range r.windows {
					used, err := p.Parse(w, s)
					if err != nil {
						b.Fatal(err)
					}
					n += used
				}
			}
			require.Equal(b, b.N, s.done)
			b.SetBytes(int64(n / b.N))
		})
	}
}

// BenchmarkParseWindow is a full 64 KiB receive of pipelined 1 KiB gets.
func BenchmarkParseWindow(b *testing.B) {
	r := hotReplies()[0]
	window := bytes.Repeat(r.windows[0], 60)
	s := &sink{expect: r.expect}
	var p Parser
	b.ReportAllocs()
	b.SetBytes(int64(len(window)))
	for b.Loop() {
		if _, err := p.Parse(window, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(s.done), "ns/reply")
}

func TestNoAllocations(t *testing.T) {
	for _, r := range hotReplies() {
		t.Run(r.name, func(t *testing.T) {
			s := &sink{expect: r.expect}
			var p Parser
			var err error
			allocs := testing.AllocsPerRun(100, func() {
				for _, w := range r.windows {
					if _, e := p.Parse(w, s); e != nil {
						err = e
					}
				}
			})
			require.NoError(t, err)
			require.Equal(t, 101, s.done)
			require.Zero(t, allocs)
		})
	}
}
