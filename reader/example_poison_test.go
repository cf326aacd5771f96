package reader_test

import (
	"errors"
	"fmt"

	"github.com/memring/memring/reader"
)

// A reply that is not its request's ends the stream. The requests that are
// outstanding are failed: what is in the queue still, and the slot whose reply it
// was.
func ExampleDesyncError() {
	queue := &fifo{
		&get{expect: reader.Expect{Kind: reader.Meta, Opaque: 1, Key: "mine"}},
		&get{expect: reader.Expect{Kind: reader.Meta, Opaque: 2, Key: "next"}},
	}
	var parser reader.Parser
	_, err := parser.Parse([]byte("VA 5 kyours O1\r\nhello\r\n"), queue)
	var desync *reader.DesyncError
	if errors.As(err, &desync) {
		fmt.Println(desync.Reason)
	}
	failed := len(*queue)
	if parser.Slot() != nil {
		failed++
	}
	fmt.Println(failed, "requests have failed")
	// Output:
	// reply carries another key
	// 2 requests have failed
}
