package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/memring/memring/client"
)

// Close ends what is under way. It may be called again, and calls after it fail.
func ExampleClient_Close() {
	c, done := newExample()
	defer done()
	fmt.Println(c.Close(), c.Close())
	_, err := c.Get(context.Background(), "k")
	fmt.Println(errors.Is(err, client.ErrClosed))
	// Output:
	// <nil> <nil>
	// true
}
