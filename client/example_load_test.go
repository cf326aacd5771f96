package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

func ExampleClient_GetOrLoad() {
	c, done := newExample()
	defer done()
	load := func(ctx context.Context) (client.Item, error) {
		fmt.Println("loading") // from the database, say: one process does
		return client.Item{Value: []byte("value")}, nil
	}
	opts := client.LoadOptions{TTL: 10 * time.Minute, Refresh: time.Minute}
	for range 2 {
		it, err := c.GetOrLoad(context.Background(), "k", load, opts)
		if err != nil {
			log.Fatal(err) // load's, or that of the context
		}
		fmt.Printf("%s\n", it.Value)
	}
	// Output:
	// loading
	// value
	// value
}

// That there is nothing can be worth remembering as well.
func ExampleClient_GetOrLoad_nothing() {
	c, done := newExample()
	defer done()
	const nothing = 1 // in Flags
	errNoRow := errors.New("no such row")
	query := func() ([]byte, error) {
		fmt.Println("asking the database")
		return nil, errNoRow
	}
	load := func(ctx context.Context) (client.Item, error) {
		row, err := query()
		if errors.Is(err, errNoRow) {
			return client.Item{Flags: nothing, TTL: time.Minute}, nil // for a shorter time
		}
		return client.Item{Value: row}, err
	}
	for range 2 {
		it, err := c.GetOrLoad(context.Background(), "k", load, client.LoadOptions{TTL: time.Hour})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("nothing:", it.Flags == nothing)
	}
	// Output:
	// asking the database
	// nothing: true
	// nothing: true
}
