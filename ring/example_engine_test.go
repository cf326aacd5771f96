package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
	"github.com/memring/memring/ring"
)

// oneLine is a Handler that keeps the last line that has come.
type oneLine struct {
	come transport.Waiter
	line string
	err  error
}

func (h *oneLine) Received(window []byte) (used int, into []byte, err error) {
	end := bytes.IndexByte(window, '\n')
	if end < 0 {
		return 0, nil, nil
	}
	h.line = string(window[:end])
	h.come.Signal()
	return end + 1, nil, nil
}

func (h *oneLine) Landed(int) (into []byte, err error) { return nil, nil }

func (h *oneLine) Closed(err error) {
	h.err = err
	h.come.Signal()
}

// open makes an engine: with io_uring where that can be had.
func open() transport.Engine {
	e, err := ring.New()
	if err != nil {
		log.Print(err) // has the cause, and what to do about it
		return fallback.New(nil)
	}
	if err := e.Degraded(); err != nil {
		log.Print(err) // it works all the same
	}
	return e
}

// The engine on its own. Package client does this, and the rest, for you.
func ExampleEngine() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	e := open()
	defer e.Close()
	h := new(oneLine)
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
	fmt.Printf("%q %v\n", h.line, h.err)
	// Output: "VERSION 1.6.18\r" <nil>
}
