// Command torture lets many goroutines use memring against real servers to which everything happens that
// happens to servers: they stall, die, come back, answer late, in drips, or not at all. It checks every
// answer, and that no call hangs, no timeout costs a connection whose server answers in the end, and nothing
// is left behind. `go run ./torture -h` lists the flags.
//
// It ends with one line of key=value pairs on stdout, and with a status other than 0 if anything was wrong,
// hung, was left or did not match.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := torture(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}
