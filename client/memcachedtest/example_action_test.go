package memcachedtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// newExample starts a server for an example, and a client for it.
func newExample(opts memcachedtest.ServerOptions) (c *client.Client, srv *memcachedtest.Server, done func()) {
	srv, err := memcachedtest.RunServer(opts)
	if err != nil {
		log.Fatal(err)
	}
	c, err = client.New([]string{srv.Addr()}, &client.Config{OpTimeout: time.Minute, ConnsPerServer: 1})
	if err != nil {
		log.Fatal(err)
	}
	return c, srv, func() { c.Close(); srv.Close() }
}

// What a client does when a reply is late: the call gives up, the connection is
// kept, and the reply is thrown away when it comes.
func ExampleAction_Stall() {
	release := make(chan struct{})
	c, srv, done := newExample(memcachedtest.ServerOptions{
		Script: memcachedtest.OnKey("slow", memcachedtest.Answer().Stall(release)),
	})
	defer done()
	if err := c.Ping(context.Background()); err != nil { // connects
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := c.Get(ctx, "slow")
	fmt.Println(errors.Is(err, client.ErrTimeout))
	close(release)
	_, err = c.Get(context.Background(), "fast")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	fmt.Println(srv.ConnCount(), "connection")
	// Output:
	// true
	// true
	// 1 connection
}

// Delay is a slow network: replies that wait together don't add up.
func ExampleAction_Delay() {
	c, _, done := newExample(memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("ms", memcachedtest.Answer().Delay(20*time.Millisecond)),
	})
	defer done()
	began := time.Now()
	if err := c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(time.Since(began) >= 20*time.Millisecond)
	// Output: true
}

// A reply for another key must never be taken for one's own.
func ExampleAction_WrongKey() {
	c, _, done := newExample(memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("mg", memcachedtest.Answer().WrongKey()),
	})
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("v")}); err != nil {
		log.Fatal(err)
	}
	_, err := c.Get(ctx, "k")
	fmt.Println(errors.Is(err, client.ErrDesync))
	// Output: true
}

// A connection that ends amid a reply.
func ExampleAction_CutAt() {
	c, _, done := newExample(memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("mg", memcachedtest.Answer().CutAt(4)),
	})
	defer done()
	_, err := c.Get(context.Background(), "k")
	fmt.Println(errors.Is(err, client.ErrConnLost))
	// Output: true
}
