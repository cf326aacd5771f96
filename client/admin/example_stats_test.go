package admin_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/admin"
)

// Items and slabs by class: where the memory is, and what was evicted from where.
func ExampleServer_Items() {
	_, s, done := newExample(client.Item{Key: "small", Value: make([]byte, 10)}, client.Item{Key: "large", Value: make([]byte, 10_000)})
	defer done()
	ctx := context.Background()

	items, err := s.Items(ctx)
	if err != nil {
		log.Fatal(err)
	}
	slabs, err := s.Slabs(ctx)
	if err != nil {
		log.Fatal(err)
	}
	evicted := make(map[int]uint64)
	for _, c := range items.Classes {
		evicted[c.Class] = c.Evicted
	}
	for _, c := range slabs.Classes {
		if c.UsedChunks > 0 {
			fmt.Println(c.UsedChunks, "item,", evicted[c.Class], "evicted")
		}
	}
	// Output:
	// 1 item, 0 evicted
	// 1 item, 0 evicted
}

func ExampleServer_Conns() {
	_, s, done := newExample()
	defer done()

	conns, err := s.Conns(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range conns.Conns {
		if c.State == "conn_listening" {
			fmt.Println("listens")
		}
	}
	// Output: listens
}

// The server counts sizes only if it was started with -o track_sizes.
func ExampleServer_Sizes() {
	_, s, done := newExample()
	defer done()

	sizes, err := s.Sizes(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tracked:", sizes.Enabled)
	for _, n := range sizes.Counts {
		fmt.Println(n.Items, "of up to", n.Bytes)
	}
	// Output: tracked: false
}

// What the keys of each prefix, up to the first colon, are used for. memcached counts
// classic commands only, such as those of a GetMulti without options.
func ExampleServer_Detail() {
	c, s, done := newExample()
	defer done()
	ctx := context.Background()

	if err := s.SetDetail(ctx, true); err != nil {
		log.Fatal(err)
	}
	for _, err := range c.GetMulti(ctx, []string{"user:1", "user:2", "page:1"}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	detail, err := s.Detail(ctx)
	if err != nil {
		log.Fatal(err)
	}
	user := detail["user"]
	fmt.Println(user.Gets, "gets of users,", user.Hits, "hits")
	// Output: 2 gets of users, 0 hits
}

func ExampleServer_TuneLRU() {
	_, s, done := newExample()
	defer done()
	ctx := context.Background()

	if err := s.SetAutomove(ctx, admin.AutomoveOn); err != nil {
		log.Fatal(err)
	}
	err := s.TuneLRU(ctx, admin.LRUTuning{HotPercent: 10, WarmPercent: 40, HotMaxFactor: 0.2, WarmMaxFactor: 2})
	fmt.Println(err)
	// Output: <nil>
}
