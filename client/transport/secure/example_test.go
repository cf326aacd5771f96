package secure_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
	"github.com/memring/memring/fallback"
)

// ended is a Handler that wants to know of nothing but the end.
type ended struct{}

func (ended) Received(window []byte) (int, []byte, error) { return len(window), nil, nil }
func (ended) Landed(int) ([]byte, error)                  { return nil, nil }
func (ended) Closed(error)                                {}

// TLS on top of any engine. Here the server has none, and the error says what may be
// wrong.
func ExampleEngine() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	var inner secure.Inner = fallback.New(nil)
	var e transport.Engine = secure.New(inner, func(network, addr string) (*tls.Config, error) {
		return &tls.Config{ServerName: "cache.example.org"}, nil
	})
	defer e.Close()

	_, err = e.Dial(ctx, "tcp", srv.Addr(), ended{})
	var failed *secure.HandshakeError
	if errors.As(err, &failed) {
		fmt.Println(failed.Remedy)
	}
	// Output: is the server started with -Z?
}
