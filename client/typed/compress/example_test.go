package compress_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/typed"
	"github.com/memring/memring/client/typed/compress"
)

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
	ctx := context.Background()

	pages, err := typed.New(c, typed.String(), &typed.Config{
		Compressor: compress.Zstd(),
		Readers:    []typed.Compressor{compress.S2(), typed.Gzip()}, // of what was stored before
	})
	if err != nil {
		log.Fatal(err)
	}
	page := strings.Repeat("<p>a long page</p>", 1000)
	if err := pages.Set(ctx, typed.Item[string]{Key: "page", Value: page}); err != nil {
		log.Fatal(err)
	}
	it, err := pages.Get(ctx, "page")
	if err != nil {
		log.Fatal(err)
	}
	stored, err := c.Get(ctx, "page")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.Value == page, len(stored.Value) < 1000)
	// Output: true true
}
