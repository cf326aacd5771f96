package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// What a write that has failed may have done decides what to do next.
func ExampleOpError() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{ // dies while it answers a store
		Script: memcachedtest.OnCommand("ms", memcachedtest.Answer().CutAt(1)),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	c, err := client.New([]string{srv.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	err = c.Set(context.Background(), client.Item{Key: "balance", Value: []byte("100")})
	var op *client.OpError
	if !errors.As(err, &op) {
		log.Fatal(err)
	}
	switch op.Outcome {
	case client.NotSent:
		fmt.Println("nothing has happened; try again")
	case client.Unknown:
		fmt.Println(op.Op, "may have been carried out; read what is there before going on")
	case client.Answered:
		fmt.Println("the server has said no:", op.Err)
	}
	// Output: set may have been carried out; read what is there before going on
}

// An increment must not be made twice, so it is repeated only if nothing of it
// was sent.
func ExampleSafeToRetry() {
	c, done := newExample()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	start := &client.Counter{Value: 1}

	n, err := c.Increment(ctx, "orders", 1, start)
	for ctx.Err() == nil && client.SafeToRetry(err) {
		time.Sleep(10 * time.Millisecond)
		n, err = c.Increment(ctx, "orders", 1, start)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n)
	// Output: 1
}

// An error line of the server matches ErrServer; its text is in ServerError.
func ExampleServerError() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("ms", memcachedtest.ErrorLine("SERVER_ERROR out of memory storing object")),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	c, err := client.New([]string{srv.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	err = c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")})
	var answer *client.ServerError
	if errors.As(err, &answer) {
		fmt.Println(answer.Line)
	}
	fmt.Println(errors.Is(err, client.ErrServer), client.SafeToRetry(err))
	// Output:
	// SERVER_ERROR out of memory storing object
	// true false
}
