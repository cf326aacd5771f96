package reader_test

import (
	"fmt"

	"github.com/memring/memring/reader"
)

// get is a slot that keeps the value of one mg.
type get struct {
	expect reader.Expect
	value  []byte
}

func (g *get) Expect() *reader.Expect         { return &g.expect }
func (g *get) Value(it *reader.Item)          { g.value = make([]byte, 0, it.Size) }
func (g *get) Chunk(p []byte)                 { g.value = append(g.value, p...) }
func (g *get) Answer(_ int, _ *reader.Result) {}
func (g *get) Stat(_, _ []byte)               {}
func (g *get) Done(r *reader.Result)          { fmt.Printf("status %d, value %q\n", r.Status, g.value) }

// fifo holds the slots of the requests that were sent, in order.
type fifo []reader.Slot

func (f *fifo) Next() reader.Slot {
	if len(*f) == 0 {
		return nil
	}
	s := (*f)[0]
	*f = (*f)[1:]
	return s
}

// Two replies come in three pieces that end anywhere.
func Example() {
	// mg greeting v k O1
	// mg nothing v k O2
	outstanding := &fifo{
		&get{expect: reader.Expect{Kind: reader.Meta, Opaque: 1, Key: "greeting"}},
		&get{expect: reader.Expect{Kind: reader.Meta, Opaque: 2, Key: "nothing"}},
	}
	var parser reader.Parser
	buf := make([]byte, 64<<10)
	kept := 0
	for _, received := range []string{"VA 5 kgreeting O", "1\r\nhel", "lo\r\nEN knothing O2\r\n"} {
		n := kept + copy(buf[kept:], received)
		used, err := parser.Parse(buf[:n], outstanding)
		if err != nil {
			fmt.Println(err)
			return
		}
		kept = copy(buf, buf[used:n])
	}
	// Output:
	// status 1, value "hello"
	// status 2, value ""
}
