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

// What an engine has moved.
func ExampleCounters() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	e := fallback.New(nil)
	defer e.Close()
	h := new(oneLine) // as in the example of Engine
	h.come.Init()
	c, err := e.Dial(context.Background(), "tcp", srv.Addr(), h)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Send([]byte("version\r\n"), nil, nil, nil); err != nil {
		log.Fatal(err)
	}
	if err := e.Wait(&h.come, []transport.Conn{c}, time.Now().Add(time.Minute), nil); err != nil {
		log.Fatal(err)
	}
	n := e.Counters()
	fmt.Println(n.Conns, "connection,", n.BytesOut, "bytes out,", n.BytesIn, "bytes in")
	// Output: 1 connection, 9 bytes out, 16 bytes in
}
