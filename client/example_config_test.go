package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func ExampleConfig() {
	c, err := client.New([]string{"10.0.0.1:11211", "10.0.0.2:11211"}, &client.Config{
		OpTimeout:  50 * time.Millisecond, // for every call; a context can only shorten it
		StallLimit: 5 * time.Second,       // how long a silent server keeps its connections
		KeyPrefix:  "shop:",               // the servers are shared
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Servers()) // New has not connected yet: the first call does
	// Output: [10.0.0.1:11211 10.0.0.2:11211]
}

// Two services share a server and don't see each other's items.
func ExampleConfig_keyPrefix() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	shop, err := client.New([]string{mc.Addr()}, &client.Config{KeyPrefix: "shop:"})
	if err != nil {
		log.Fatal(err)
	}
	defer shop.Close()
	blog, err := client.New([]string{mc.Addr()}, &client.Config{KeyPrefix: "blog:"})
	if err != nil {
		log.Fatal(err)
	}
	defer blog.Close()

	ctx := context.Background()
	if err := shop.Set(ctx, client.Item{Key: "front", Value: []byte("offers")}); err != nil {
		log.Fatal(err)
	}
	it, err := shop.Get(ctx, "front")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s\n", it.Key, it.Value)
	_, err = blog.Get(ctx, "front")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// front: offers
	// true
}

// Keys of any bytes, as hashes and encoded structures have.
func ExampleConfig_binaryKeys() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	c, err := client.New([]string{mc.Addr()}, &client.Config{BinaryKeys: true})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "\x00\xff a key\n", Value: []byte("found")}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, "\x00\xff a key\n")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q: %s\n", it.Key, it.Value)
	// Output: "\x00\xff a key\n": found
}

// Keys that are too long for memcached, as URLs can be, are stored under their
// SHA-256.
func ExampleConfig_hashLongKeys() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	c, err := client.New([]string{mc.Addr()}, &client.Config{HashLongKeys: true})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx := context.Background()
	url := "https://example.org/?q=" + strings.Repeat("long", 100)
	if err := c.Set(ctx, client.Item{Key: url, Value: []byte("found")}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.Key == url, string(it.Value))
	// Output: true found
}

// A service that was sized for io_uring says loudly when it has to do without.
// By default the client chooses, and Client.Engine tells what and why.
func ExampleEngineKind() {
	servers := []string{"127.0.0.1:11211"}
	c, err := client.New(servers, &client.Config{Engine: client.URing})
	if err != nil {
		log.Print(err) // has the cause and the remedy
		c, err = client.New(servers, &client.Config{Engine: client.Poll})
	}
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Servers())
	// Output: [127.0.0.1:11211]
}
