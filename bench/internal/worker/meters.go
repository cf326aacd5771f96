package worker

import (
	"runtime"
	"time"

	"github.com/memring/memring/bench/internal/peers"
)

// meters are read just before and just after the callers run.
type meters struct {
	cpu       time.Duration
	mallocs   uint64
	enters    uint64
	hasEnters bool
}

func readMeters(c peers.Client) (m meters, err error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m.mallocs = mem.Mallocs
	if e, ok := c.(peers.Enterer); ok {
		m.enters, m.hasEnters = e.Enters(), true
	}
	m.cpu, err = cpuTime()
	return m, err
}
