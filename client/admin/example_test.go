package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/admin"
	"github.com/memring/memring/client/memcachedtest"
)

// newExample starts a memcached for an example, which has yours running already,
// and stores some items.
func newExample(items ...client.Item) (c *client.Client, s *admin.Server, done func()) {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err = client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, it := range items {
		if err := c.Set(context.Background(), it); err != nil {
			log.Fatal(err)
		}
	}
	if s, err = admin.Of(c, mc.Addr()); err != nil {
		log.Fatal(err)
	}
	return c, s, func() { c.Close(); mc.Close() }
}

func Example() {
	c, _, done := newExample(client.Item{Key: "greeting", Value: []byte("hello")})
	defer done()
	ctx := context.Background()

	servers, err := admin.All(c)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range servers {
		g, err := s.General(ctx)
		if err != nil {
			log.Print(err) // names the server
			continue
		}
		fmt.Println(g.CurrItems, "items,", g.Evictions, "evictions")
		set, err := s.Settings(ctx)
		if err != nil {
			log.Print(err)
			continue
		}
		fmt.Println(set.ItemSizeMax, "bytes an item at most")
	}
	// Output:
	// 1 items, 0 evictions
	// 1048576 bytes an item at most
}

func ExampleServer_Keys() {
	_, s, done := newExample(
		client.Item{Key: "user:7", Value: []byte("x"), TTL: time.Hour},
		client.Item{Key: "motd", Value: []byte("hello")},
	)
	defer done()

	for k, err := range s.Keys(context.Background(), admin.AllClasses) {
		switch {
		case err != nil:
			log.Fatal(err) // the dump is not complete
		case k.Expiry.IsZero():
			fmt.Println(k.Key, "stays")
		default:
			fmt.Println(k.Key, "ends in an hour:", time.Until(k.Expiry) > 59*time.Minute)
		}
	}
	// Unordered output:
	// user:7 ends in an hour: true
	// motd stays
}

func ExampleServer_Watch() {
	c, s, done := newExample()
	defer done()
	ctx := context.Background()

	for e, err := range s.Watch(ctx, admin.Mutations) {
		if err != nil {
			log.Fatal(err)
		}
		switch e.Type {
		case admin.Started: // from here on nothing is missed
			if err := c.Set(ctx, client.Item{Key: "greeting", Value: []byte("hello")}); err != nil {
				log.Fatal(err)
			}
		case admin.Skipped:
			log.Print(e.Skipped, " entries dropped: this loop is too slow")
		case admin.ItemStore:
			fmt.Println(e.Cmd, e.Key, e.Status, e.Size)
			return // closes the connection
		}
	}
	// Output: set greeting stored 5
}

func ExampleServer_Debug() {
	_, s, done := newExample(client.Item{Key: "greeting", Value: []byte("hello")})
	defer done()

	m, err := s.Debug(context.Background(), "greeting")
	switch {
	case errors.Is(err, client.ErrNotFound):
		fmt.Println("nothing there")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("class", m.Class, "fetched", m.Fetched, "expires", m.Expires)
	}
	// Output: class 1 fetched false expires false
}

func ExampleServer_ReassignSlab() {
	_, s, done := newExample(client.Item{Key: "greeting", Value: []byte("hello")})
	defer done()

	err := s.ReassignSlab(context.Background(), 1, 2)
	switch {
	case errors.Is(err, admin.ErrBusy):
		fmt.Println("another page is on its way")
	case errors.Is(err, admin.ErrNoSpare):
		fmt.Println("class 1 needs what it has")
	case err != nil:
		log.Fatal(err)
	}
	// Output: class 1 needs what it has
}
