package servers

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"

	"github.com/memring/memring/bench/internal/standin"
)

// StandinFlag makes this program the stand-in server: network, address, value size and delay follow.
const StandinFlag = "-standin"

// Standin starts the server that answers after delay. A TCP server gets a free port.
func Standin(ctx context.Context, exe, network, addr string, size int, delay time.Duration) (*Server, error) {
	if network == "tcp" {
		var err error
		if addr, err = claim(0); err != nil {
			return nil, err
		}
	}
	name := fmt.Sprintf("the stand-in server (%s, %s)", delay, network)
	return ready(ctx, name, exec.Command(exe, StandinFlag, network, addr, fmt.Sprint(size), delay.String()), network, addr)
}

// RunStandin is the stand-in's process. It ends with its input.
func RunStandin(in io.Reader, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s wants a network, an address, a size and a delay", StandinFlag)
	}
	var size int
	if _, err := fmt.Sscan(args[2], &size); err != nil {
		return err
	}
	delay, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	l, err := net.Listen(args[0], args[1])
	if err != nil {
		return err
	}
	standin.Prepare()
	go func() {
		_, _ = io.Copy(io.Discard, in) // any end of the input is the end
		l.Close()
	}()
	return standin.Serve(l, size, delay)
}
