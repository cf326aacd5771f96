package worker

import (
	"errors"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/idle"
	"github.com/memring/memring/bench/internal/peers"
	"github.com/memring/memring/client"
)

// connections are opened by the first slice, which is the only one, and closed by it: the server has no room
// for those of two clients.
type connections struct{ *idle.Idle }

func openIdle(spec Spec) (measured, error) {
	engine := client.URing
	if spec.Client == cases.Poll {
		engine = client.Poll
	}
	c, err := idle.Open(engine, spec.Addr, spec.Conns)
	if err != nil {
		return nil, &peers.UnavailableError{Reason: err.Error()}
	}
	return connections{c}, nil
}

func (c connections) slice(Command) (s Sample, err error) {
	began := time.Now()
	s.Extra, err = c.Measure()
	s.Ops, s.Wall = 1, time.Since(began)
	return s, errors.Join(err, c.Close())
}

func (c connections) close() { _ = c.Close() } // again, if there was a slice; the process ends with it
