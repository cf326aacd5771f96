package transport_test

import (
	"fmt"

	"github.com/memring/memring/client/transport"
)

// An engine's send buffer: requests of many callers leave together.
func ExampleOutbox() {
	var out transport.Outbox
	out.Append([]byte("mg a v O1\r\n"), nil, nil, nil)
	out.Append([]byte("mg b v O2\r\n"), nil, nil, nil)
	fmt.Printf("%q\n", out.Next()) // write this
	out.Left(11)                   // the kernel has taken so much of it
	fmt.Printf("%q\n", out.Next())
	// Output:
	// "mg a v O1\r\nmg b v O2\r\n"
	// "mg b v O2\r\n"
}

// A large value is sent from where it is, and the caller gets it back when it has
// left, or sooner: then the rest is copied.
func ExampleLoan() {
	value := []byte("large")
	var out transport.Outbox
	var loan transport.Loan
	out.Append([]byte("ms k 5\r\n"), value, []byte("\r\n"), &loan)
	pieces := out.Pieces(make([][]byte, 0, 8), 1<<20) // for writev(2)
	fmt.Printf("%q lent: %v\n", pieces, !loan.Over())

	out.Left(10)    // the head and two bytes of the value have left,
	out.Keep(&loan) // and the caller won't wait for the others
	fmt.Println("lent:", !loan.Over())
	copy(value, "dirty")
	fmt.Printf("%q\n", out.Pieces(pieces[:0], 1<<20))
	// Output:
	// ["ms k 5\r\n" "large" "\r\n"] lent: true
	// lent: false
	// ["rge" "\r\n"]
}
