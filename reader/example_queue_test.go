package reader_test

import (
	"fmt"
	"sync"

	"github.com/memring/memring/reader"
)

// outstanding is a Queue that one goroutine fills, in the order in which it sends,
// while another receives.
type outstanding struct {
	mu    sync.Mutex
	slots []reader.Slot
}

func (q *outstanding) Sent(s reader.Slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slots = append(q.slots, s)
}

func (q *outstanding) Next() reader.Slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.slots) == 0 {
		return nil // then what has come was not asked for
	}
	s := q.slots[0]
	q.slots = q.slots[1:]
	return s
}

func ExampleQueue() {
	var q outstanding
	q.Sent(&call{expect: reader.Expect{Kind: reader.Meta, Opaque: 1}}) // before the request can reach the server
	var parser reader.Parser
	_, err := parser.Parse([]byte("VA 3 O1\r\none\r\nVA 3 O2\r\ntwo\r\n"), &q)
	fmt.Println(err)
	// Output:
	// one
	// reply stream out of sync: bytes without an outstanding request
}
