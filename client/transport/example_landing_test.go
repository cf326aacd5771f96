package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// body is a Handler that wants so many bytes, and has what does not come with the
// first window land in their place.
type body struct {
	come transport.Waiter
	data []byte
	have int
	err  error
}

func (h *body) Received(window []byte) (used int, into []byte, err error) {
	used = copy(h.data[h.have:], window)
	into, err = h.Landed(used)
	return used, into, err
}

func (h *body) Landed(n int) (into []byte, err error) {
	h.have += n
	if h.have == len(h.data) {
		h.come.Signal()
	}
	return h.data[h.have:], nil // the engine's until the next call
}

func (h *body) Closed(err error) {
	h.err = err
	h.come.Signal()
}

// A large value is copied no more often than it must.
func ExampleHandler() {
	const size = 1 << 20
	here, there := net.Pipe()
	go func() { // the server
		defer there.Close()
		_, _ = there.Write(bytes.Repeat([]byte("v"), size))
	}()

	e := fallback.New(nil)
	defer e.Close()
	h := &body{data: make([]byte, size)}
	h.come.Init()
	c, err := e.Adopt(here, h)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := e.Wait(&h.come, []transport.Conn{c}, time.Time{}, ctx.Done()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Count(h.data, []byte("v")), "bytes")
	// Output: 1048576 bytes
}
