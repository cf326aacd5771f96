package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

// Many callers want an item that is dear to make: one of them makes it.
func ExampleGetOptions() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	for range 3 {
		it, err := c.Get(ctx, "report", client.GetOptions{Vivify: time.Minute, Recache: time.Hour})
		switch {
		case err != nil:
			log.Fatal(err)
		case it.State&client.Won != 0:
			fmt.Println("it is ours to make")
			err = c.CompareAndSwap(ctx, client.Item{Key: "report", Value: []byte("figures"), CAS: it.CAS, TTL: 24 * time.Hour})
			if err != nil {
				log.Fatal(err)
			}
		case it.State&client.Claimed != 0 && len(it.Value) == 0:
			fmt.Println("somebody else is at it")
		default:
			fmt.Printf("%s\n", it.Value)
		}
	}
	// Output:
	// it is ours to make
	// figures
	// figures
}

// Who has a copy of an item fetches it again only if it has changed.
func ExampleGetOptions_unlessCAS() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	var cas uint64
	if err := c.Set(ctx, client.Item{Key: "page", Value: []byte("a large page")}, client.StoreOptions{StoredCAS: &cas}); err != nil {
		log.Fatal(err)
	}
	_, err := c.Get(ctx, "page", client.GetOptions{UnlessCAS: cas})
	fmt.Println(errors.Is(err, client.ErrNotModified))
	if err := c.Set(ctx, client.Item{Key: "page", Value: []byte("a new page")}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, "page", client.GetOptions{UnlessCAS: cas})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", it.Value)
	// Output:
	// true
	// a new page
}

func ExampleStoreOptions() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	var cas uint64
	// A log that the first line begins.
	for _, line := range []string{"one\n", "two\n"} {
		err := c.Append(ctx, client.Item{Key: "log", Value: []byte(line), TTL: time.Hour}, client.StoreOptions{Create: true, StoredCAS: &cas})
		if err != nil {
			log.Fatal(err)
		}
	}
	// More is added only if nobody else has added any.
	err := c.Append(ctx, client.Item{Key: "log", Value: []byte("three\n")}, client.StoreOptions{IfCAS: cas})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Append(ctx, client.Item{Key: "log", Value: []byte("four\n")}, client.StoreOptions{IfCAS: cas})
	fmt.Println(errors.Is(err, client.ErrConflict))
	it, err := c.Get(ctx, "log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", it.Value)
	// Output:
	// true
	// one
	// two
	// three
}

// What has changed at its source is invalidated: the old value serves until somebody
// has stored the new one.
func ExampleDeleteOptions() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "price", Value: []byte("10")}); err != nil {
		log.Fatal(err)
	}
	if err := c.Delete(ctx, "price", client.DeleteOptions{Invalidate: true, TTL: time.Minute}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		it, err := c.Get(ctx, "price")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, stale: %v, ours to store: %v\n", it.Value, it.State&client.Stale != 0, it.State&client.Won != 0)
	}
	// Output:
	// 10, stale: true, ours to store: true
	// 10, stale: true, ours to store: false
}

func ExampleCounterOptions() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	// So many requests a minute, counted from the first.
	var left time.Duration
	for range 3 {
		n, err := c.Increment(ctx, "requests", 1, &client.Counter{Value: 1, TTL: time.Minute}, client.CounterOptions{TTL: &left})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n, left > 50*time.Second)
	}
	// Output:
	// 1 true
	// 2 true
	// 3 true
}

func ExampleClient_Inspect() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("hello")}); err != nil {
		log.Fatal(err)
	}
	it, err := c.Inspect(ctx, "k")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.Info.Size, it.Info.TTL < 0, it.Info.Fetched)
	// Output: 5 true false
}

func ExampleClient_Meta() {
	c, done := newExample()
	defer done()
	r, err := c.Meta(context.Background(), client.MetaRequest{
		Command: "ms", Key: "k", Value: []byte("hello"),
		Flags: []client.MetaFlag{{Letter: 'T', Token: "60"}, {Letter: 'M', Token: "R"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status)
	// Output: NS
}
