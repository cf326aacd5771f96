package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"

	"github.com/memring/memring/bench/internal/standin"
)

// StandinFlag makes this program the stand-in server: network, address and its [standin.Options] as JSON
// follow.
const StandinFlag = "-standin"

// Standin starts the stand-in server. On TCP it gets a free port.
func Standin(ctx context.Context, exe, network, addr string, o standin.Options) (*Server, error) {
	if network == "tcp" {
		var err error
		if addr, err = claim(0); err != nil {
			return nil, err
		}
	}
	how, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("the stand-in server (%s, %s)", o.Delay, network)
	return ready(ctx, name, exec.Command(exe, StandinFlag, network, addr, string(how)), network, addr)
}

// RunStandin is the stand-in's process. It ends with its input.
func RunStandin(in io.Reader, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s wants a network, an address and options", StandinFlag)
	}
	var o standin.Options
	if err := json.Unmarshal([]byte(args[2]), &o); err != nil {
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
	return standin.NewServer(o).Serve(l)
}
