package transporttest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport/transporttest"
)

// A client and its servers in one process, with nothing of the operating system's
// between them.
func ExampleNetwork() {
	network := transporttest.NewNetwork()
	names := []string{"a:11211", "b:11211"}
	for _, name := range names {
		srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{Network: "none", Version: "at " + name})
		if err != nil {
			log.Fatal(err)
		}
		defer srv.Close()
		l, err := network.Listen(name)
		if err != nil {
			log.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return // the listener is closed
				}
				srv.Serve(nc)
			}
		}()
	}

	c, err := client.New(names, &client.Config{DialContext: network.DialContext})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	versions, err := c.Version(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		fmt.Println(versions[name])
	}
	// Output:
	// at a:11211
	// at b:11211
}
