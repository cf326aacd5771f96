package reader_test

import (
	"fmt"

	"github.com/memring/memring/reader"
)

// call is a slot whose caller may give up: it stays in the queue then, and throws
// away what comes.
type call struct {
	expect reader.Expect
	value  []byte
	gone   bool
}

func (c *call) Expect() *reader.Expect     { return &c.expect }
func (c *call) Value(*reader.Item)         {}
func (c *call) Answer(int, *reader.Result) {}
func (c *call) Stat(_, _ []byte)           {}

func (c *call) Chunk(p []byte) {
	if !c.gone {
		c.value = append(c.value, p...)
	}
}

func (c *call) Done(*reader.Result) {
	if c.gone {
		fmt.Println("late, and thrown away")
		return
	}
	fmt.Printf("%s\n", c.value)
}

// The reply to a request that nobody waits for any more is consumed whole, so that
// the next one is found behind it.
func ExampleSlot() {
	first := &call{expect: reader.Expect{Kind: reader.Meta, Opaque: 1}}
	second := &call{expect: reader.Expect{Kind: reader.Meta, Opaque: 2}}
	queue := &fifo{first, second}
	first.gone = true
	var parser reader.Parser
	if _, err := parser.Parse([]byte("VA 3 O1\r\none\r\nVA 3 O2\r\ntwo\r\n"), queue); err != nil {
		fmt.Println(err)
	}
	// Output:
	// late, and thrown away
	// two
}
