package reader_test

import (
	"fmt"

	"github.com/memring/memring/reader"
)

// A reply must have what was asked for: mg k v t f O1, answered without the t.
func ExampleFlagSet() {
	queue := &fifo{&outcome{reader.Expect{Kind: reader.Meta, Opaque: 1, Want: reader.WantTTL}}}
	var p reader.Parser
	_, err := p.Parse([]byte("HD f0 O1\r\n"), queue)
	fmt.Println(err)
	// Output: reply stream out of sync: reply lacks a flag that was asked for
}
