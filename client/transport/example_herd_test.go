package transport_test

import (
	"fmt"

	"github.com/memring/memring/client/transport"
)

// How an engine hands the driver's role on: a caller that finds it taken parks and
// sleeps; who leaves promotes one of those.
func ExampleHerd() {
	var herd transport.Herd
	var w transport.Waiter
	w.Init()
	if !w.Park(0) { // no deadline
		fmt.Println("its reply has come already")
		return
	}
	herd.Add(&w) // from here on it can be found

	go herd.Promote() // another caller, whose own reply has come

	o := w.Sleep(nil)
	fmt.Println("drives:", o.Lead, "late:", o.Expired, "reply:", w.Take())
	// Output: drives: true late: false reply: false
}

// What a caller does when its sleep has ended. More than one may hold, and the
// driver's role comes first: who has it and leaves must pass it on.
func ExampleOutcome() {
	var w transport.Waiter
	w.Init()
	done := make(chan struct{})
	close(done) // its context is cancelled
	w.Park(0)
	o := w.Sleep(done)
	switch {
	case o.Lead:
		fmt.Println("drive, or promote another")
	case w.Take():
		fmt.Println("the reply is there")
	case o.Expired, o.Canceled:
		fmt.Println("give up")
	default:
		fmt.Println("sleep again")
	}
	// Output: give up
}
