package memcachedtest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A server that accepts and stays silent, as a hung one does.
func ExampleConnAction() {
	c, srv, done := newExample(memcachedtest.ServerOptions{
		OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnMute },
	})
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // gives up once the server has read the request
		defer cancel()
		limit, end := context.WithTimeout(ctx, time.Minute)
		defer end()
		_ = srv.Wait(limit, func() bool { return srv.RequestCount() > 0 })
	}()
	err := c.Set(ctx, client.Item{Key: "k", Value: []byte("v")})
	var op *client.OpError
	fmt.Println(errors.As(err, &op) && op.Outcome == client.Unknown)
	// Output: true
}

// An old server that takes small items only.
func ExampleServerOptions() {
	c, srv, done := newExample(memcachedtest.ServerOptions{Network: "unix", Version: "1.6.10", ItemLimitBytes: 2 << 10})
	defer done()
	ctx := context.Background()
	versions, err := c.Version(ctx)
	fmt.Println(versions[srv.Addr()], err)
	err = c.Set(ctx, client.Item{Key: "k", Value: make([]byte, 4<<10)})
	fmt.Println(errors.Is(err, client.ErrTooLarge))
	// Output:
	// 1.6.10 <nil>
	// true
}
