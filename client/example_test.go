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

// newExample starts a memcached for an example and returns a client for it.
func newExample() (c *client.Client, done func()) {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err = client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return c, func() { c.Close(); mc.Close() }
}

func Example() {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{}) // yours is running already
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()

	c, err := client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	if err := c.Set(ctx, client.Item{Key: "greeting", Value: []byte("hello"), TTL: time.Hour}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, "greeting")
	switch {
	case errors.Is(err, client.ErrNotFound):
		fmt.Println("nothing there")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Printf("%s\n", it.Value)
	}
	// Output: hello
}

func ExampleClient_GetMulti() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	for _, k := range []string{"a", "b"} {
		if err := c.Set(ctx, client.Item{Key: k, Value: []byte("value of " + k)}); err != nil {
			log.Fatal(err)
		}
	}
	for it, err := range c.GetMulti(ctx, []string{"a", "b", "c"}) {
		if err != nil {
			log.Print(err) // names the server; the other servers' items still come
			continue
		}
		fmt.Printf("%s: %s\n", it.Key, it.Value)
	}
	// Unordered output:
	// a: value of a
	// b: value of b
}

func ExampleClient_GetAppend() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("no allocation")}); err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 0, 1024) // used again and again
	buf, _, err := c.GetAppend(ctx, buf[:0], "k")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", buf)
	// Output: no allocation
}

func ExampleClient_GetLease() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "page", Value: make([]byte, 64<<10)}); err != nil {
		log.Fatal(err)
	}
	l, err := c.GetLease(ctx, "page")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(l.Value), "bytes") // use it here, and copy what is to be kept
	if err := l.Release(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Release())
	// Output:
	// 65536 bytes
	// lease was released already
}

func ExampleClient_GetMultiLease() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	for _, k := range []string{"a", "b"} {
		if err := c.Set(ctx, client.Item{Key: k, Value: make([]byte, 40<<10)}); err != nil {
			log.Fatal(err)
		}
	}
	sum := 0
	for l, err := range c.GetMultiLease(ctx, []string{"a", "b", "c"}) {
		if err != nil {
			log.Print(err) // nothing is lent with it
			continue
		}
		sum += len(l.Value)
		if err := l.Release(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sum, "bytes")
	// Output: 81920 bytes
}

func ExampleClient_CompareAndSwap() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "list", Value: []byte("a")}); err != nil {
		log.Fatal(err)
	}
	for {
		it, err := c.Get(ctx, "list")
		if err != nil {
			log.Fatal(err)
		}
		it.Value = append(it.Value, ",b"...)
		it.TTL = time.Hour // Get does not return it
		err = c.CompareAndSwap(ctx, it)
		if errors.Is(err, client.ErrConflict) {
			continue // somebody else was faster: try again with the new value
		}
		if err != nil {
			log.Fatal(err)
		}
		break
	}
	it, _ := c.Get(ctx, "list")
	fmt.Printf("%s\n", it.Value)
	// Output: a,b
}

func ExampleClient_Increment() {
	c, done := newExample()
	defer done()
	for range 3 {
		n, err := c.Increment(context.Background(), "visits", 1, &client.Counter{Value: 1, TTL: time.Minute})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n)
	}
	// Output:
	// 1
	// 2
	// 3
}

func ExampleClient_Engine() {
	c, err := client.New([]string{"127.0.0.1:11211"}, &client.Config{Engine: client.Poll})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	name, reason := c.Engine()
	fmt.Println(name, "because", reason)
	// Output: poll because Config.Engine is Poll
}
