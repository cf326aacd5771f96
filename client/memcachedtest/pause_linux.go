package memcachedtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Pause stops the server in its tracks (SIGSTOP) and returns once all its
// threads stand still: connections are still accepted by the kernel and bytes
// still buffered, but nothing is answered.
func (p *Process) Pause() error {
	r := p.latest()
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("memcached: pause: %w", err)
	}
	// kill(2) returns before the threads have noticed. waitid(2) with WSTOPPED
	// would tell, but only once per stop; this also works for a second Pause.
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	var failed error
	err := r.poll(ctx, "waiting for the server to stop", func() bool {
		var stopped bool
		stopped, failed = threadsStopped(r.cmd.Process.Pid)
		return stopped || failed != nil
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("memcached: pause: %w", err)
	}
	return nil
}

// threadsStopped reads the state of each thread, which stands behind the
// program's name in parentheses (proc_pid_stat(5)).
func threadsStopped(pid int) (bool, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(files) == 0 {
		return false, errors.Join(err, os.ErrProcessDone)
	}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // a thread that has ended meanwhile
		}
		if err != nil {
			return false, err
		}
		name := bytes.LastIndexByte(stat, ')')
		if name < 0 || name+2 >= len(stat) || stat[name+2] != 'T' {
			return false, nil
		}
	}
	return true, nil
}

// Resume lets a paused server go on (SIGCONT).
func (p *Process) Resume() error { return p.Signal(syscall.SIGCONT) }
