package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
)

// What has happened since the last look, as a metrics exporter or a health check
// wants it: all but Conns are totals, so differences say it.
func ExampleCounters() {
	c, done := newExample()
	defer done()
	health := func(before, now client.Counters) string {
		switch {
		case now.Desyncs > before.Desyncs:
			return "a server answers nonsense"
		case now.Timeouts > before.Timeouts:
			return "a server is slow"
		case now.Losses > before.Losses:
			return "connections break"
		}
		return "well"
	}

	before := c.Counters()
	if err := c.Set(context.Background(), client.Item{Key: "k", Value: []byte("v")}); err != nil {
		log.Fatal(err)
	}
	now := c.Counters()
	fmt.Println(health(before, now), now.Conns, now.BytesOut > before.BytesOut)
	// Output: well 1 true
}
