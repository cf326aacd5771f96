package fallback_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// counted is a connection that counts the bytes read from it.
type counted struct {
	net.Conn
	bytes *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// Every read and write goes through the connection that DialContext returns.
func ExampleConfig() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	var read atomic.Int64
	e := fallback.New(&fallback.Config{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return counted{nc, &read}, nil
		},
	})
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
	fmt.Println(read.Load(), "bytes")
	// Output: 16 bytes
}
