package transporttest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/transporttest"
)

// replies is a Handler that keeps all that comes.
type replies struct {
	come transport.Waiter
	all  []byte
}

func (h *replies) Received(window []byte) (used int, into []byte, err error) {
	h.all = append(h.all, window...)
	h.come.Signal()
	return len(window), nil, nil
}
func (h *replies) Landed(int) (into []byte, err error) { return nil, nil } // nothing lands
func (h *replies) Closed(error)                        { h.come.Signal() }

// A test of what runs on an engine, without sockets: the test plays the server.
func ExampleFake() {
	e := transporttest.NewFake()
	defer e.Close()
	l, err := e.Listen("server")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		request, err := bufio.NewReader(nc).ReadString('\n')
		if err == nil {
			_, _ = io.WriteString(nc, "you said: "+request)
		}
	}()

	h := new(replies)
	h.come.Init()
	c, err := e.Dial(context.Background(), "memory", "server", h)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Send([]byte("mn\r\n"), nil, nil, nil); err != nil {
		log.Fatal(err)
	}
	if err := e.Wait(&h.come, []transport.Conn{c}, time.Now().Add(time.Minute), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", h.all)
	// Output: "you said: mn\r\n"
}
