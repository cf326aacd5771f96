package reader_test

import (
	"fmt"

	"github.com/memring/memring/reader"
)

// outcome is a slot that prints how its request ended.
type outcome struct{ expect reader.Expect }

func (o *outcome) Expect() *reader.Expect     { return &o.expect }
func (o *outcome) Value(it *reader.Item)      { fmt.Printf("%s has ", it.Key) }
func (o *outcome) Chunk(p []byte)             { fmt.Printf("%s\n", p) }
func (o *outcome) Answer(int, *reader.Result) {}
func (o *outcome) Stat(name, value []byte)    { fmt.Printf("%s is %s\n", name, value) }
func (o *outcome) Done(res *reader.Result)    { fmt.Printf("%s %q\n", text(res.Status), res.Line) }

func text(s reader.Status) string {
	switch s {
	case reader.OK:
		return "ok"
	case reader.NotStored:
		return "not stored"
	case reader.Failed:
		return "failed"
	}
	return "something else"
}

// What the replies to some requests have to look like. The more is said, the less
// that is wrong can pass.
func ExampleExpect() {
	queue := &fifo{
		// ms k 5 ME O1: stored or not, and never with a value
		&outcome{reader.Expect{Kind: reader.Meta, Opaque: 1,
			Allow: reader.Statuses(reader.OK, reader.NotStored), Value: reader.ValueNever}},
		// ms k 5 O2: the server may always answer with an error line
		&outcome{reader.Expect{Kind: reader.Meta, Opaque: 2, Value: reader.ValueNever}},
		// get a b
		&outcome{reader.Expect{Kind: reader.Values, Keys: []string{"a", "b"}}},
		// stats
		&outcome{reader.Expect{Kind: reader.Stats}},
		// version
		&outcome{reader.Expect{Kind: reader.Line, Answers: []string{"VERSION"}}},
	}
	var parser reader.Parser
	_, err := parser.Parse([]byte("NS O1\r\n"+
		"SERVER_ERROR out of memory storing object\r\n"+
		"VALUE b 0 3\r\nbee\r\nEND\r\n"+
		"STAT pid 7\r\nEND\r\n"+
		"VERSION 1.6.18\r\n"), queue)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// not stored ""
	// failed "SERVER_ERROR out of memory storing object"
	// b has bee
	// ok ""
	// pid is 7
	// ok ""
	// ok "VERSION 1.6.18"
}
