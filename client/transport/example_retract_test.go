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

// A request whose caller gives up before anybody has driven never leaves.
func ExampleConn_Retract() {
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

	first, second := []byte("incr visits 1\r\n"), []byte("version\r\n")
	for _, request := range [][]byte{first, second} {
		if _, err := c.Send(request, nil, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(c.Retract(len(first), len(second)))
	if err := e.Wait(&h.come, []transport.Conn{c}, time.Now().Add(time.Minute), nil); err != nil {
		log.Fatal(err)
	}
	for _, r := range srv.Requests() {
		fmt.Println(r.Line)
	}
	// Output:
	// true
	// version
}
