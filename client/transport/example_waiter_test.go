package transport_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// A wait that gives up takes nothing away: what is signalled later is there for
// the next one.
func ExampleWaiter() {
	e := fallback.New(nil)
	defer e.Close()
	var w transport.Waiter
	w.Init()
	err := e.Wait(&w, nil, time.Now().Add(time.Millisecond), nil)
	fmt.Println(errors.Is(err, transport.ErrTimeout))

	go e.Wake(&w) // as Close does, say; handlers call w.Signal
	if err := e.Wait(&w, nil, time.Time{}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Signalled()) // Wait has taken the signal
	// Output:
	// true
	// false
}
