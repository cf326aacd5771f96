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
