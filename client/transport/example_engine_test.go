package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
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
		return 0, nil, nil // what there is will be given again, with more behind it
	}
	h.line = string(window[:end]) // a copy: the window is the engine's
	h.come.Signal()
	return end + 1, nil, nil
}

// Landed is never called, since Received asks for nothing to land.
func (h *oneLine) Landed(int) (into []byte, err error) { return nil, nil }

func (h *oneLine) Closed(err error) {
	h.err = err
	h.come.Signal()
}

// One line to a server, and the line that it answers.
func ExampleEngine() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	var e transport.Engine = fallback.New(nil)
	defer e.Close() // waits for the handlers' last call
	h := new(oneLine)
	h.come.Init()
	c, err := e.Dial(ctx, "tcp", srv.Addr(), h)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Send([]byte("version\r\n"), nil, nil, nil); err != nil {
		log.Fatal(err)
	}
	// Nobody else does the I/O: Wait sends, receives, and calls the handler.
	deadline, _ := ctx.Deadline()
	if err := e.Wait(&h.come, []transport.Conn{c}, deadline, ctx.Done()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q %v\n", h.line, h.err)
	// Output: "VERSION 1.6.18\r" <nil>
}
