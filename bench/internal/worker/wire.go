// Package worker is the process that measures: one row of the table has one worker of its own, so that
// neither the servers, nor the driver, nor another client's heap, threads or collector are in its figures.
//
// The driver sends one JSON line a command and gets one JSON line back. A worker ends when its input does,
// so none outlives its driver.
package worker

import (
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// Spec opens a worker: the first line it gets.
type Spec struct {
	Case       cases.Case
	Client     cases.Client
	Addr       string
	Conns      int    // see peers.Config
	Rings      int    // see peers.Config
	Tracepoint uint64 // counts system calls; 0: the kernel's counter can't be had
}

// Command asks for one slice.
type Command struct {
	Slice time.Duration
	// Count counts system calls with the kernel's counter. That slows each of them down, so such a
	// slice is good for nothing else.
	Count bool
}

// Reply answers the spec and each command.
type Reply struct {
	Error       string `json:",omitempty"`
	Unavailable string `json:",omitempty"` // the client can't run on this machine, and why
	Addr        string `json:",omitempty"` // where a service listens, in answer to a spec
	Note        string `json:",omitempty"` // what the client says of itself, in answer to a spec
	Sample      Sample
}

// Sample is what a slice measured.
type Sample struct {
	Ops     uint64 // that succeeded
	Errors  uint64 // calls that failed, where the case counts them
	Wall    time.Duration
	CPU     time.Duration // user and system, of the worker process
	IdleCPU time.Duration // spent since the slice before
	P50     time.Duration
	P99     time.Duration
	P999    time.Duration
	Max     time.Duration // of a single call, from when it was made, also at a fixed rate
	Mallocs uint64

	Syscalls    uint64 // the kernel's count, if Counted
	Counted     bool
	Enters      uint64 // the client's own count of its system calls, if HasEnters
	HasEnters   bool
	LateP50     time.Duration // of the bystander
	LateP99     time.Duration
	LateMax     time.Duration
	Wakes       uint64             // of the bystander
	Ticks       []Tick             `json:",omitempty"` // if the case has them
	Extra       map[string]float64 `json:",omitempty"` // figures of its group alone, see report.Row
	CountFailed string             `json:",omitempty"` // why the kernel's counter couldn't be read
}
