package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
	"github.com/memring/memring/bench/internal/report"
	"github.com/memring/memring/bench/internal/runner"
	"github.com/memring/memring/bench/internal/servers"
	"github.com/memring/memring/bench/internal/worker"
)

// Slices that are not timed.
const (
	warmSlice  = 60 * time.Millisecond
	countSlice = 60 * time.Millisecond // half as long in a quick run
	countTurns = 3
)

// maxIdleCPU is how much of a core waiting clients may use, in all, before the report says so.
const maxIdleCPU = 0.01

// bench is one run, from flags to verdict.
func bench(args []string, stdout io.Writer, stderr *os.File) (err error) {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if s.list {
		return list(stdout, s.cases)
	}
	out, err := create(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	header := report.Here()
	signals, unhook := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer unhook()
	ctx, cancel := context.WithCancelCause(signals)
	defer cancel(nil)

	exe, err := os.Executable()
	if err != nil {
		return err
	}
	set, err := servers.StartSet(ctx, exe, s.port, s.cases, cancel)
	defer func() { err = errors.Join(err, set.Close()) }()
	if err != nil {
		return told(signals, err)
	}
	o := runner.Options{
		Exe: exe, Rounds: s.rounds, Slice: s.slice, Warm: warmSlice, Count: countSlice, CountTurns: countTurns,
		Gomaxprocs: s.gomaxprocs, Conns: s.conns, Rings: s.rings,
	}
	if s.quick {
		o.Count /= 2
	}
	var notes []string
	if o.Tracepoint, err = worker.TracepointID(exe, tracepointFlag); err != nil {
		notes = append(notes, fmt.Sprintf("system calls are the engine's own count: the kernel's counter can't be read (%v)", err))
	}
	left, note, err := drop(ctx, s.cases, set, o)
	if err != nil {
		return told(signals, err)
	}
	if note != "" {
		fmt.Fprintln(stderr, "bench: "+note)
		notes = append(notes, note)
	}
	built, err := os.MkdirTemp("", "memring-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built)) }()
	var more []string
	left, o.Exes, more = prepare(ctx, left, built)
	notes = append(notes, more...)
	res, err := runner.Run(ctx, left, set, o, runner.NewProgress(stderr))
	if err != nil {
		return told(signals, err)
	}
	notes = append(notes, res.Degraded...)
	if res.CountFailed != "" {
		notes = append(notes, "counting system calls failed: "+res.CountFailed)
	}
	for who, share := range res.IdleCPU {
		if share > maxIdleCPU {
			notes = append(notes, fmt.Sprintf("%s used %.1f%% of a core while it waited for its turn", who, 100*share))
		}
	}
	header.Command, header.Settings, header.Notes = s.command, s.saved, notes
	header.Memcached, header.Clients = set.Version, peers.Versions()
	run := &report.Saved{Header: header, Rows: res.Rows}
	if err := run.Text(stdout); err != nil {
		return err
	}
	return out.write(run, stdout)
}

// drop takes out memring's engines that this machine can't run, and says so.
func drop(ctx context.Context, all []cases.Case, set *servers.Set, o runner.Options) (left []cases.Case, note string, err error) {
	left = all
	for _, client := range []cases.Client{
		cases.URing, cases.URingPlain, cases.URingCopy, cases.URingRef, cases.URingAppend, cases.URingLease, cases.URingLoop,
		cases.URingTypedBytes, cases.URingTypedJSON, cases.URingTypedGzip, cases.Adapter, cases.Poll, cases.BareRing,
	} {
		i := slices.IndexFunc(all, func(c cases.Case) bool { return slices.Contains(c.Clients, client) })
		if i < 0 {
			continue
		}
		err := runner.Probe(ctx, all[i], client, set.Addr(all[i]), o)
		gone, ok := errors.AsType[*peers.UnavailableError](err)
		if err != nil && !ok {
			return nil, "", fmt.Errorf("%s: %w", client, err)
		}
		if ok {
			if note != "" {
				note += ". "
			}
			note += fmt.Sprintf("ALL ROWS OF %s ARE LEFT OUT: %s", client, gone.Reason)
			left = cases.Without(left, client)
		}
	}
	if len(left) == 0 {
		return nil, "", errors.New(note + ". Nothing is left to measure")
	}
	return left, note, nil
}

// told prefers the user's wish to end over what it led to.
func told(signals context.Context, err error) error {
	if signals.Err() != nil {
		return errors.New("interrupted; everything that was started has ended")
	}
	return err
}

func list(w io.Writer, all []cases.Case) error {
	for _, c := range all {
		if _, err := fmt.Fprintln(w, c.ID(), c.Clients); err != nil {
			return err
		}
	}
	return nil
}
