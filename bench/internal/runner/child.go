package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
	"github.com/memring/memring/bench/internal/servers"
	"github.com/memring/memring/bench/internal/worker"
)

// WorkerFlag makes this program a worker.
const WorkerFlag = "-worker"

// ConfinedFlag makes this program a worker whose memory locks count against RLIMIT_MEMLOCK.
const ConfinedFlag = "-confined"

// patience is how much longer than its slice a worker may take to answer.
const patience = 20 * time.Second

// child is the driver's side of a worker.
type child struct {
	proc    *servers.Process
	out     *json.Encoder
	replies chan worker.Reply
	note    string // see worker.Reply
	addr    string // see worker.Reply
}

func (w *child) said() string { return w.note }

// start starts a worker and has it connect.
func start(ctx context.Context, c cases.Case, client cases.Client, addr string, o Options) (*child, error) {
	exe, flag := o.Exe, WorkerFlag
	if other, ok := o.Exes[client]; ok {
		exe = other
	}
	if client == cases.URingPlain {
		flag = ConfinedFlag
	}
	cmd := exec.Command(exe, flag)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs(c, o)))
	proc, err := servers.Start(fmt.Sprintf("the worker of %s", client), cmd, true)
	if err != nil {
		return nil, err
	}
	w := &child{proc: proc, out: json.NewEncoder(proc.Stdin), replies: make(chan worker.Reply)}
	go func() {
		defer close(w.replies)
		in := json.NewDecoder(proc.Stdout)
		for {
			var r worker.Reply
			if in.Decode(&r) != nil {
				return // it has ended; ask tells how
			}
			w.replies <- r
		}
	}()
	spec := worker.Spec{Case: c, Client: client, Addr: addr, Conns: o.Conns, Rings: o.Rings, Tracepoint: o.Tracepoint}
	if c.Conns > 0 {
		spec.Conns = c.Conns
	}
	r, err := w.ask(ctx, spec, patience)
	if err != nil {
		w.stop()
		return nil, err
	}
	w.note, w.addr = r.Note, r.Addr
	return w, nil
}

func (w *child) slice(ctx context.Context, cmd worker.Command) (worker.Sample, error) {
	r, err := w.ask(ctx, cmd, cmd.Slice+patience)
	if err == nil && r.Sample.Ops == 0 && r.Sample.Errors == 0 {
		err = errors.New("a slice without any operation")
	}
	return r.Sample, err
}

func (w *child) ask(ctx context.Context, what any, wait time.Duration) (worker.Reply, error) {
	if err := ctx.Err(); err != nil {
		return worker.Reply{}, context.Cause(ctx)
	}
	sent := w.out.Encode(what)
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case r, ok := <-w.replies:
		switch {
		case !ok:
			<-w.proc.Done()
			return r, w.proc.Death()
		case r.Unavailable != "":
			return r, &peers.UnavailableError{Reason: r.Unavailable}
		case r.Error != "":
			return r, errors.New(r.Error)
		}
		return r, sent
	case <-ctx.Done():
		return worker.Reply{}, context.Cause(ctx)
	case <-timeout.C:
		return worker.Reply{}, fmt.Errorf("no answer for %s: a call hangs", wait)
	}
}

func (w *child) stop() {
	go func() {
		for range w.replies { // so that its last answer doesn't hold it up
		}
	}()
	w.proc.Stop()
}

// Probe tells whether a client can run on this machine: an [peers.UnavailableError] says why not.
func Probe(ctx context.Context, c cases.Case, client cases.Client, addr string, o Options) error {
	w, err := start(ctx, c, client, addr, o)
	if err != nil {
		return err
	}
	w.stop()
	return nil
}
