package reader_test

import (
	"fmt"
	"strings"

	"github.com/memring/memring/reader"
)

// large is a slot whose value can be received straight into its place.
type large struct {
	expect reader.Expect
	value  []byte
}

func (g *large) Expect() *reader.Expect   { return &g.expect }
func (g *large) Value(it *reader.Item)    { g.value = make([]byte, 0, it.Size) }
func (g *large) Chunk(p []byte)           { g.value = append(g.value, p...) }
func (*large) Answer(int, *reader.Result) {}
func (g *large) Stat(_, _ []byte)         {}
func (g *large) Done(r *reader.Result) {
	fmt.Println(len(g.value), "bytes, OK:", r.Status == reader.OK)
}

// one is a Queue of one slot.
type one struct{ slot reader.Slot }

func (q *one) Next() reader.Slot {
	s := q.slot
	q.slot = nil
	return s
}

// Only a large value's beginning comes through the window.
func ExampleParser_Landed() {
	from := strings.NewReader("VA 100000 O1\r\n" + strings.Repeat("v", 100_000) + "\r\n") // a connection
	slot := &large{expect: reader.Expect{Kind: reader.Meta, Opaque: 1, Value: reader.ValueMust}}
	queue := &one{slot}
	var parser reader.Parser
	window := make([]byte, 64<<10)
	for {
		n, err := from.Read(window)
		if err != nil {
			return // the server has closed
		}
		if _, err := parser.Parse(window[:n], queue); err != nil {
			fmt.Println(err)
			return
		}
		for left := parser.ValueLeft(); left > 0; left = parser.ValueLeft() {
			at := len(slot.value)
			n, err := from.Read(slot.value[at : at+left])
			if err != nil {
				return
			}
			slot.value = slot.value[:at+n]
			if err := parser.Landed(n); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	// Output: 100000 bytes, OK: true
}
