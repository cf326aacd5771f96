package memcache_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	memcache "github.com/memring/memring/client/gomemcache"
)

// A server that cannot be connected to in time.
func ExampleConnectTimeoutError() {
	mc := memcache.New("192.0.2.1:11211")
	defer mc.Close()
	mc.Timeout = 10 * time.Millisecond
	mc.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done() // a network that swallows everything
		return nil, ctx.Err()
	}
	_, err := mc.Get("k")
	var timeout *memcache.ConnectTimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("no connection to", timeout.Addr)
	}
	// Output: no connection to 192.0.2.1:11211
}
