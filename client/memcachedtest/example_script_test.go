package memcachedtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A script of one's own looks at the request: this server is out of memory for
// values that are to stay for ever.
func ExampleScript() {
	noRoom := func(r memcachedtest.Request) memcachedtest.Action {
		if _, ends := r.Flag('T'); r.Command == "ms" && !ends {
			return memcachedtest.ErrorLine("SERVER_ERROR out of memory storing object")
		}
		return memcachedtest.Answer()
	}
	c, _, done := newExample(memcachedtest.ServerOptions{Script: noRoom})
	defer done()
	err := c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")})
	fmt.Println(errors.Is(err, client.ErrServer))
	// Output: true
}

// Fails once, then works: what a retry is tested with.
func ExampleSequence() {
	c, _, done := newExample(memcachedtest.ServerOptions{
		Script: memcachedtest.Sequence(memcachedtest.ErrorLine("SERVER_ERROR busy")),
	})
	defer done()
	for range 2 {
		err := c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")})
		fmt.Println(err == nil)
	}
	// Output:
	// false
	// true
}

// What the client has sent.
func ExampleRequest() {
	c, srv, done := newExample(memcachedtest.ServerOptions{})
	defer done()
	if err := c.Set(context.Background(), client.Item{Key: "k", Value: []byte("value")}); err != nil {
		log.Fatal(err)
	}
	for _, r := range srv.Requests() {
		fmt.Println(r.Conn, r.Seq, r.Command, r.Key, r.Words()[2])
	}
	// Output: 1 1 ms k 5
}
