package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

func ExampleClient_SetMulti() {
	c, done := newExample()
	defer done()
	items := []client.Item{
		{Key: "a", Value: []byte("first"), TTL: time.Hour},
		{Key: "b", Value: make([]byte, 2<<20)}, // more than this server takes
		{Key: "c", Value: []byte("third")},
	}
	err := c.SetMulti(context.Background(), items)
	var batch *client.BatchError
	if errors.As(err, &batch) {
		for i, err := range batch.Errs {
			if err != nil {
				fmt.Printf("item %d: %v\n", i, errors.Is(err, client.ErrTooLarge))
			}
		}
	}
	// Output: item 1: true
}

func ExampleClient_DeleteMulti() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "a"}); err != nil {
		log.Fatal(err)
	}
	err := c.DeleteMulti(ctx, []string{"a", "b"})
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// All that counts is that they are gone.
	fmt.Println(client.Except(err, client.ErrNotFound))
	// Output:
	// true
	// <nil>
}

func ExampleClient_TouchMulti() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.SetMulti(ctx, []client.Item{{Key: "session:1"}, {Key: "session:2"}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.TouchMulti(ctx, []string{"session:1", "session:2"}, time.Hour))
	// Output: <nil>
}

// What has changed at its source is made anew by the next to ask for it, and meanwhile
// the others have the old one.
func ExampleClient_DeleteMulti_invalidate() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	keys := []string{"price:1", "price:2"}
	if err := c.SetMulti(ctx, []client.Item{{Key: keys[0], Value: []byte("10")}, {Key: keys[1], Value: []byte("20")}}); err != nil {
		log.Fatal(err)
	}
	err := c.DeleteMulti(ctx, keys, client.DeleteOptions{Invalidate: true, TTL: time.Minute})
	if err := client.Except(err, client.ErrNotFound); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		it, err := c.Get(ctx, keys[0])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, stale: %v, ours to make: %v\n", it.Value, it.State&client.Stale != 0, it.State&client.Won != 0)
	}
	// Output:
	// 10, stale: true, ours to make: true
	// 10, stale: true, ours to make: false
}

// Each entry compares with a CAS of its own.
func ExampleBatch_options() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	var first, second uint64
	var b client.Batch
	b.Set(client.Item{Key: "a", Value: []byte("1")}, client.StoreOptions{StoredCAS: &first})
	b.Set(client.Item{Key: "b", Value: []byte("1")}, client.StoreOptions{StoredCAS: &second})
	if err := c.Do(ctx, &b); err != nil {
		log.Fatal(err)
	}
	if err := c.Set(ctx, client.Item{Key: "b", Value: []byte("somebody else's")}); err != nil {
		log.Fatal(err)
	}
	changed := b.Append(client.Item{Key: "a", Value: []byte("2")}, client.StoreOptions{IfCAS: first})
	conflict := b.Delete("b", client.DeleteOptions{IfCAS: second})
	if err := client.Except(c.Do(ctx, &b), client.ErrConflict); err != nil {
		log.Fatal(err)
	}
	fmt.Println(changed.Err(), errors.Is(conflict.Err(), client.ErrConflict))
	// Output: <nil> true
}

func ExampleBatch() {
	c, done := newExample()
	defer done()
	var b client.Batch
	b.Set(client.Item{Key: "greeting", Value: []byte("hello")})
	greeting := b.Get("greeting")
	visits := b.Increment("visits", 1, &client.Counter{Value: 1})
	old := b.Delete("old")
	if err := client.Except(c.Do(context.Background(), &b), client.ErrNotFound); err != nil {
		log.Fatal(err)
	}
	it, _ := greeting.Item()
	n, _ := visits.Count()
	fmt.Printf("%s %d %v\n", it.Value, n, errors.Is(old.Err(), client.ErrNotFound))
	// Output: hello 1 true
}
