package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Which server has lost connections, and why.
func ExampleServerCounters() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{ // answers for another key
		Script: memcachedtest.OnKey("k", memcachedtest.Answer().WrongKey()),
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

	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("v")}); err != nil {
		fmt.Println(err)
	}
	if _, err := c.Get(ctx, "k"); err == nil {
		log.Fatal("got what is not the key's")
	}
	for server, n := range c.Counters().Servers {
		warn := ""
		if n.ClosedByDesync > 0 {
			warn = "it is broken, or a proxy before it"
		}
		fmt.Println(server == srv.Addr(), n.ClosedByDesync, "desync:", warn)
	}
	// Output:
	// true 1 desync: it is broken, or a proxy before it
}
