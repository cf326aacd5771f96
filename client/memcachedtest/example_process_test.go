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

// A real memcached where there is no test to give to Start: in an example, a
// TestMain, a benchmark's program.
func ExampleRun() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err) // says how to install memcached if there is none
	}
	defer mc.Close()
	c, err := client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	versions, err := c.Version(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(versions[mc.Addr()] == mc.Version())
	// Output: true
}

// A server that hangs, and goes on later.
func ExampleProcess_Pause() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	c, err := client.New([]string{mc.Addr()}, &client.Config{OpTimeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if err := mc.Pause(); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	fmt.Println(errors.Is(c.Ping(ctx), client.ErrTimeout))
	if err := mc.Resume(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Ping(context.Background()))
	// Output:
	// true
	// <nil>
}

// Options ask for what a test is about, here a server with small items.
func ExampleOptions() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{
		Network:        "unix",
		ItemLimitBytes: 16 << 10,
		Args:           []string{"-F"}, // no flush_all
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	c, err := client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx := context.Background()
	err = c.Set(ctx, client.Item{Key: "k", Value: make([]byte, 20<<10)})
	fmt.Println(errors.Is(err, client.ErrTooLarge))
	err = c.FlushAll(ctx)
	fmt.Println(errors.Is(err, client.ErrServer))
	// Output:
	// true
	// true
}
