package client_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
)

// A lease is released when nobody will look at its Value any more. What is kept
// is copied before.
func ExampleLease_Release() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	page := append([]byte("<title>memring</title>"), make([]byte, 64<<10)...)
	if err := c.Set(ctx, client.Item{Key: "page", Value: page}); err != nil {
		log.Fatal(err)
	}
	title := func() ([]byte, error) {
		l, err := c.GetLease(ctx, "page")
		if err != nil {
			return nil, err // nothing is lent
		}
		head, _, _ := bytes.Cut(l.Value, []byte("</title>"))
		t := bytes.Clone(bytes.TrimPrefix(head, []byte("<title>")))
		return t, l.Release()
	}
	t, err := title()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", t)
	// Output: memring
}
