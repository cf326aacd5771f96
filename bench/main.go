// Command bench measures memring on both its engines against other Go clients of memcached, side by
// side on this machine, and prints tables. `go run . -h` lists the flags and the other commands, which
// work on saved runs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/memring/memring/bench/internal/peers"
	"github.com/memring/memring/bench/internal/runner"
	"github.com/memring/memring/bench/internal/servers"
	"github.com/memring/memring/bench/internal/worker"
)

// tracepointFlag makes this program look for the kernel's system call counter.
const tracepointFlag = "-tracepoint"

func main() {
	if len(os.Args) > 1 {
		part(os.Args[1], os.Args[2:])
	}
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs a command, or the benchmark if none is named.
func run(args []string, stdout io.Writer, stderr *os.File) error {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name == args[0] {
				return c.run(args[1:], stdout, stderr)
			}
		}
	}
	return bench(args, stdout, stderr)
}

// part plays one of the other processes of a run and doesn't return, unless name is none of them. They
// end with their input; an interrupt from the terminal is the driver's to handle.
func part(name string, args []string) {
	var err error
	signal.Ignore(os.Interrupt)
	switch name {
	case runner.WorkerFlag:
		err = worker.Run(os.Stdin, os.Stdout)
	case runner.ConfinedFlag:
		err = peers.Confine(runner.WorkerFlag) // doesn't return unless it fails
	case servers.StandinFlag:
		err = servers.RunStandin(os.Stdin, args)
	case servers.GuardFlag:
		os.Exit(servers.Guard(os.Stdin, args))
	case tracepointFlag:
		err = worker.PrintTracepoint()
	default:
		signal.Reset(os.Interrupt)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
