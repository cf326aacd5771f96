// Command torture is the long form of the proof that memring works. It has four parts:
//
//	simulation  the client and its poll engine on scripted servers in virtual time, by seed: TestSimulation
//	fakekernel  the io_uring engine over a kernel that misbehaves, by seed: TestFakeKernel
//	closes      clients that are closed under load, also while they connect, on both engines
//	servers     many goroutines that use real servers on both engines, while these stall, die, come back,
//	            answer late, in drips, or not at all; every answer is checked; each round is a seed
//
// `go run ./torture -h` lists the flags. What is counted begins with seed 1, what is given a time with a seed
// from the clock. A seed that fails is told at once and once more at the end, with the command that runs it
// again.
//
// The scoreboard goes to stdout. Its last line has key=value pairs, summed over the parts:
//
//	seeds       simulations, fake kernels and rounds
//	ops         calls, and requests to the fake kernel
//	wrong       answers that are not the caller's, not whole, stale or never written; must be 0
//	hangs       calls and seeds that do not end; must be 0
//	leaks       goroutines, descriptors, rings and pinned memory that are left behind; must be 0
//	timeouts    calls that gave up by timeout or context
//	recovered   of the requests given up after sending, where the server answered all in the end, the share
//	            whose late reply found its connection alive; must be 99% or more in each part
//	desyncs     replies that did not match their request although the server sent none such; must be 0
//	provoked    replies that the simulation has forged and the client has noticed; nothing to worry about
//	broken      other promises that were not kept, such as how a call ends on Close; must be 0
//
// and then what is good to know: seeds that failed, requests owed a late reply, rounds, clients closed,
// values checked, and how late calls and plain timers were. The status is 0 if all is as it must be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	err := torture(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}
