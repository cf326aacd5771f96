package client_test

import (
	"context"
	"expvar"
	"fmt"

	"github.com/memring/memring/client"
)

// Counters fit expvar, and whatever else collects numbers.
func ExampleClient_Counters() {
	c, done := newExample()
	defer done()
	expvar.Publish("memcached", expvar.Func(func() any { return c.Counters() }))

	_ = c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")})
	n := c.Counters()
	fmt.Println(n.Dials, "connection,", n.Timeouts, "timeouts,", n.Desyncs, "desyncs")
	// Output: 1 connection, 0 timeouts, 0 desyncs
}
