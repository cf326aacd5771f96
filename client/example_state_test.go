package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

// Of many that miss an item at once, one computes it; the others are told that
// somebody does.
func ExampleState() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	for range 3 {
		it, err := c.Get(ctx, "report", client.GetOptions{Vivify: 10 * time.Second})
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case it.State&client.Won != 0:
			fmt.Println("ours to compute; nobody else will for 10 s")
		case it.State&client.Claimed != 0 && len(it.Value) == 0:
			fmt.Println("somebody is computing it")
			err := c.Set(ctx, client.Item{Key: "report", Value: []byte("42"), TTL: time.Hour}) // that is, the winner does
			if err != nil {
				log.Fatal(err)
			}
		default:
			fmt.Printf("%s\n", it.Value)
		}
	}
	// Output:
	// ours to compute; nobody else will for 10 s
	// somebody is computing it
	// 42
}
