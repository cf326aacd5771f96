package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

// A limit of three requests a minute. The first of them makes the counter, and its
// TTL is the minute: counting on does not renew it.
func ExampleCounter() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	for range 4 {
		n, err := c.Increment(ctx, "requests:ada", 1, &client.Counter{Value: 1, TTL: time.Minute})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n, n <= 3)
	}
	// Without a Counter, nothing is made.
	_, err := c.Decrement(ctx, "credits", 1, nil)
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// 1 true
	// 2 true
	// 3 true
	// 4 false
	// true
}
