package client_test

import (
	"fmt"

	"github.com/memring/memring/client"
)

// When a server goes, no key moves but its own.
func ExampleRendezvous() {
	three := client.Rendezvous([]string{"a:11211", "b:11211", "c:11211"})
	two := client.Rendezvous([]string{"a:11211", "b:11211"})
	moved := 0
	for i := range 1000 {
		key := fmt.Sprint("user:", i)
		if at := three.Pick(key); at != 2 && at != two.Pick(key) {
			moved++
		}
	}
	fmt.Println(moved, "keys of the other servers have moved")
	// Output: 0 keys of the other servers have moved
}
