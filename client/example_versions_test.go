package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// What a server is too old for is not sent to it.
func ExampleUnsupportedError() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{Version: "1.6.18"})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	c, err := client.New([]string{srv.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	it := client.Item{Key: "k", Value: []byte("v")}
	err = c.Set(context.Background(), it, client.StoreOptions{NewCAS: 2026})
	var lacks *client.UnsupportedError
	if errors.As(err, &lacks) {
		fmt.Println("needs", lacks.Need, "and has", lacks.Have)
	}
	// Output: needs 1.6.27 and has 1.6.18
}

// A proxy between client and server may look at hints; memcached passes them over.
func ExampleHints() {
	c, done := newExample()
	defer done()
	ctx := context.Background()

	hints := client.Hints{P: "pool-a"}
	if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("v")}, client.StoreOptions{Hints: hints}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, "k", client.GetOptions{Hints: hints})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", it.Value)
	// Output: v
}
