package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A write whose caller has given up is not lost: its reply tells how it ended.
func ExampleLateWrite() {
	release := make(chan struct{})
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{ // is slow to answer a store
		Script: memcachedtest.OnCommand("ms", memcachedtest.Answer().Stall(release)),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	ended := make(chan client.LateWrite, 16)
	c, err := client.New([]string{srv.Addr()}, &client.Config{
		LateWrite: func(l client.LateWrite) { ended <- l },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx, giveUp := context.WithCancel(context.Background())
	go func() { // gives up once the server has the request
		_ = srv.Wait(context.Background(), func() bool { return srv.RequestCount() > 0 })
		giveUp()
	}()
	err = c.Set(ctx, client.Item{Key: "k", Value: []byte("v")})
	fmt.Println(err != nil)
	close(release)

	l := <-ended
	fmt.Println(l.Op, l.Key, "has been carried out:", l.Err == nil)
	// Output:
	// true
	// set k has been carried out: true
}
