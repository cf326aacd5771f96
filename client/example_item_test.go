package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
)

// The flags say how a value was encoded, for whoever reads it; they come back as
// they were. The TTL doesn't: it has been counting since.
func ExampleItem() {
	const isJSON = 1 // what flags mean is the application's choice
	c, done := newExample()
	defer done()
	ctx := context.Background()
	value, err := json.Marshal(map[string]int{"apples": 3})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Set(ctx, client.Item{Key: "cart", Value: value, Flags: isJSON, TTL: 20 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	it, err := c.Get(ctx, "cart")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.Flags == isJSON, string(it.Value), it.TTL, it.CAS != 0)
	// Output: true {"apples":3} 0s true
}
