package fallback_test

import (
	"fmt"
	"log"
	"net"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// plain is a connection that has more to it than a socket, but nothing that a
// Write cut short by a deadline would break, as it breaks TLS.
type plain struct{ net.Conn }

func (plain) ResumesWrites() bool { return true }

var _ fallback.Resumable = plain{}

// A body that was lent is sent from where it is; for other connections that are no
// sockets it is copied.
func ExampleResumable() {
	for _, wrap := range []func(net.Conn) net.Conn{
		func(nc net.Conn) net.Conn { return nc },
		func(nc net.Conn) net.Conn { return plain{nc} },
	} {
		here, there := net.Pipe()
		e := fallback.New(nil)
		h := new(oneLine) // as in the example of Engine
		h.come.Init()
		c, err := e.Adopt(wrap(here), h)
		if err != nil {
			log.Fatal(err)
		}
		var loan transport.Loan
		if _, err := c.Send([]byte("ms k 5\r\n"), []byte("value"), []byte("\r\n"), &loan); err != nil {
			log.Fatal(err)
		}
		fmt.Println("lent:", !loan.Over())
		e.Close()
		there.Close()
		fmt.Println("over:", c.Reclaim(&loan, &h.come)) // a lender asks for its memory back, whatever has happened
	}
	// Output:
	// lent: false
	// over: true
	// lent: true
	// over: true
}
