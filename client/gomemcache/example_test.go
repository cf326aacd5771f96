package memcache_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	memcache "github.com/memring/memring/client/gomemcache"
	"github.com/memring/memring/client/memcachedtest"
)

// startExample starts a memcached for an example: yours is running already.
func startExample() (addr string, done func()) {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return mc.Addr(), func() { mc.Close() }
}

func Example() {
	addr, done := startExample()
	defer done()

	mc := memcache.New(addr)
	defer mc.Close()
	if err := mc.Set(&memcache.Item{Key: "greeting", Value: []byte("hello"), Expiration: 3600}); err != nil {
		log.Fatal(err)
	}
	it, err := mc.Get("greeting")
	switch {
	case errors.Is(err, memcache.ErrCacheMiss): // err == memcache.ErrCacheMiss does as well
		fmt.Println("nothing there")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Printf("%s\n", it.Value)
	}
	// Output: hello
}

// The list of servers may change while the client is in use.
func ExampleServerList_SetServers() {
	first, done := startExample()
	defer done()
	second, done := startExample()
	defer done()

	var list memcache.ServerList
	if err := list.SetServers(first); err != nil {
		log.Fatal(err)
	}
	mc := memcache.NewFromSelector(&list)
	defer mc.Close()
	if err := mc.Set(&memcache.Item{Key: "k", Value: []byte("v")}); err != nil {
		log.Fatal(err)
	}
	if err := list.SetServers(second); err != nil {
		log.Fatal(err)
	}
	_, err := mc.Get("k")
	fmt.Println(err)
	// Output: memcache: cache miss
}
