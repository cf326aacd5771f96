package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/memring/memring/client"
)

// A load that panics does not take the process down: callers get it as an error, and
// the next call loads again.
func ExamplePanicError() {
	c, done := newExample()
	defer done()

	_, err := c.GetOrLoad(context.Background(), "k", func(context.Context) (client.Item, error) {
		panic("out of cheese")
	}, client.LoadOptions{})
	var p *client.PanicError
	if errors.As(err, &p) {
		fmt.Println("load panicked:", p.Value)
	}
	n := c.LoadCounters()
	fmt.Println(n.Loads, "load,", n.Failed, "failed")
	// Output:
	// load panicked: out of cheese
	// 1 load, 1 failed
}
