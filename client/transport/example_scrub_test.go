package transport_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// A connection keeps the memory of its sends. After a secret it is overwritten.
func ExampleScrubber() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	e := fallback.New(nil)
	defer e.Close()
	h := new(oneLine)
	h.come.Init()
	c, err := e.Dial(context.Background(), "tcp", srv.Addr(), h)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Send([]byte("set auth 0 0 10\r\napp secret\r\n"), nil, nil, nil); err != nil {
		log.Fatal(err)
	}
	if err := e.Wait(&h.come, []transport.Conn{c}, time.Now().Add(time.Minute), nil); err != nil {
		log.Fatal(err)
	}
	if s, ok := c.(transport.Scrubber); ok {
		s.Scrub()
	}
	fmt.Println(h.line[:6])
	// Output: STORED
}
