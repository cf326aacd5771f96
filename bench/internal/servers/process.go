// Package servers starts what is measured against, watches it, and ends it.
package servers

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// GuardFlag makes this program run the command that follows, and end it when its own input ends.
const GuardFlag = "-guard"

// grace is how long a process that was asked to end may take.
const grace = 2 * time.Second

// Process is a child that ends at the latest when this program does: it reads its input until the end.
type Process struct {
	Name   string
	Stdin  io.WriteCloser
	Stdout io.ReadCloser // nil unless asked for
	cmd    *exec.Cmd
	stderr tail
	done   chan struct{}
	err    error // how it ended; valid once done is closed
}

// Start starts a child. With output, its standard output is for the caller to read.
func Start(name string, cmd *exec.Cmd, output bool) (*Process, error) {
	p := &Process{Name: name, cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.stderr
	cmd.WaitDelay = grace
	var err error
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if output {
		if p.Stdout, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Death says how the process ended, with the last of what it said. Only after Done.
func (p *Process) Death() error {
	how := "it exited by itself"
	if p.err != nil {
		how = p.err.Error()
	}
	said := p.stderr.String()
	if said == "" {
		return fmt.Errorf("%s died: %s; it said nothing on stderr", p.Name, how)
	}
	return fmt.Errorf("%s died: %s; the last it said on stderr:\n%s", p.Name, how, said)
}

// Stop ends the process and waits for it.
func (p *Process) Stop() {
	_ = p.Stdin.Close() // this is the request to end; a process that is gone already is what we want
	select {
	case <-p.done:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// tailLines is how much of a process's stderr is kept.
const tailLines = 10

// tail keeps the last lines written to it.
type tail struct {
	mu    sync.Mutex
	lines []string
	part  string
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(t.part+string(b), "\n")
	t.part = lines[len(lines)-1]
	t.lines = append(t.lines, lines[:len(lines)-1]...)
	if extra := len(t.lines) - tailLines; extra > 0 {
		t.lines = append([]string(nil), t.lines[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if t.part != "" {
		lines = append(lines[:len(lines):len(lines)], t.part)
	}
	if len(lines) == 0 {
		return ""
	}
	return "  " + strings.Join(lines, "\n  ")
}
