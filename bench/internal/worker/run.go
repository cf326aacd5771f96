package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
)

// Run serves one driver until in ends.
func Run(in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(bufio.NewReader(in))
	answer := json.NewEncoder(out)
	var spec Spec
	if err := lines.Decode(&spec); err != nil {
		return fmt.Errorf("reading the case: %w", err)
	}
	l, ready, err := open(spec)
	if err != nil {
		reply := Reply{Error: err.Error()}
		if gone, ok := errors.AsType[*peers.UnavailableError](err); ok {
			reply = Reply{Unavailable: gone.Reason}
		}
		if err := answer.Encode(reply); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, in) // stay until the driver has read it
		return err
	}
	defer l.close()
	if err := answer.Encode(ready); err != nil {
		return err
	}
	for {
		var cmd Command
		if err := lines.Decode(&cmd); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var reply Reply
		if reply.Sample, err = l.slice(cmd); err != nil {
			reply = Reply{Error: err.Error()}
		}
		if err := answer.Encode(reply); err != nil {
			return err
		}
	}
}

// measured is what a worker measures: a load of its own, or a service that others drive.
type measured interface {
	slice(Command) (Sample, error)
	close()
}

// open connects, waiting a little for a server that is just coming up, and does each caller's operation once.
func open(spec Spec) (m measured, ready Reply, err error) {
	if spec.Case.Op == cases.Idle {
		m, err = openIdle(spec)
		return m, ready, err
	}
	client, err := peers.Open(peers.Config{
		Client: spec.Client, Network: spec.Case.Network, Addr: spec.Addr, Callers: spec.Case.Callers,
		Conns: spec.Conns, Rings: spec.Rings, Deadline: spec.Case.Deadline,
	})
	if err != nil {
		return nil, ready, err
	}
	if spec.Case.Op == cases.Serve {
		s, err := openService(spec, client)
		if err != nil {
			_ = client.Close() // that it can't serve is the news
			return nil, ready, err
		}
		ready.Addr, m = s.addr, s
	} else if m, err = openLoad(spec, client); err != nil {
		return nil, ready, err
	}
	if d, ok := client.(peers.Degrader); ok {
		ready.Note = d.Degraded()
	}
	return m, ready, nil
}

// openLoad takes the client over, also if it fails.
func openLoad(spec Spec, client peers.Client) (*load, error) {
	l, err := newLoad(spec, client)
	if err != nil {
		_ = client.Close() // as above
		return nil, err
	}
	if spec.Case.Tick > 0 {
		l.watch, err = openWatch(spec.Case.Network, spec.Addr)
	}
	if err == nil {
		_, err = l.slice(Command{Slice: time.Nanosecond})
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close ends the connections. The process ends with them: an error changes nothing.
func (l *load) close() {
	_ = l.client.Close()
	if l.watch != nil {
		l.watch.close()
	}
}
