package memcachedtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

var errPortTaken = errors.New("port is taken")

// running is one run of the program, from its start to its reaping.
type running struct {
	cmd    *exec.Cmd
	output tail
	done   chan struct{}
	ended  error // valid after done
}

// startProgram starts the program on a goroutine that holds its OS thread
// until the program has been reaped: the death signal that Linux sends to the
// child is tied to the thread that made it, not to the process.
func startProgram(binary string, args []string, portFile string, output io.Writer) (*running, error) {
	r := &running{done: make(chan struct{})}
	r.cmd = exec.Command(binary, args...)
	r.cmd.SysProcAttr = dieWithParent()
	r.cmd.Stdout = &r.output
	if output != nil {
		r.cmd.Stdout = io.MultiWriter(&r.output, output)
	}
	r.cmd.Stderr = r.cmd.Stdout
	// A descendant that inherited the pipe must not keep us waiting.
	r.cmd.WaitDelay = time.Second
	if portFile != "" {
		r.cmd.Env = append(os.Environ(), "MEMCACHED_PORT_FILENAME="+portFile)
	}

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		r.ended = r.cmd.Wait()
		close(r.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return r, nil
}

// kill ends the program and waits until it has been reaped. The handle is that
// of our own child, so no other process can be hit.
func (r *running) kill() error {
	err := r.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("memcached: kill: %w", err)
	}
	<-r.done
	return nil
}

func (r *running) err() error {
	select {
	case <-r.done:
	default:
		return nil
	}
	how := "exit status 0"
	if r.ended != nil {
		how = r.ended.Error()
	}
	printed := strings.TrimSpace(r.output.String())
	if strings.Contains(printed, "failed to listen") || strings.Contains(printed, "in use") {
		return fmt.Errorf("ended (%s): %w: %s", how, errPortTaken, printed)
	}
	return fmt.Errorf("ended (%s): %s", how, printed)
}

// poll calls f until it reports true, the program ends, or ctx does.
func (r *running) poll(ctx context.Context, what string, f func() bool) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if f() {
			return nil
		}
		select {
		case <-r.done:
			return r.err()
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// readPort reads the port that memcached chose. It writes the file under
// another name first and renames it (memcached.c), so it is seen whole.
func (r *running) readPort(ctx context.Context, file string) (string, error) {
	var port string
	err := r.poll(ctx, "waiting for the port file", func() bool {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(data)) {
			if p, ok := strings.CutPrefix(line, "TCP INET: "); ok {
				port = strings.TrimSpace(p)
			}
		}
		return port != ""
	})
	return port, err
}

// waitReady waits for an answer to "version". Any answer will do: a server that
// wants authentication answers with an error.
func (r *running) waitReady(ctx context.Context, network, addr string, connectOnly bool) (version string, err error) {
	err = r.poll(ctx, "waiting for an answer on "+addr, func() bool {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return false
		}
		defer c.Close()
		if connectOnly {
			return true
		}
		if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
			return false
		}
		if _, err := io.WriteString(c, "version\r\n"); err != nil {
			return false
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			return false
		}
		version = ""
		if v, ok := strings.CutPrefix(line, "VERSION "); ok {
			version = strings.TrimSpace(v)
		}
		return true
	})
	return version, err
}

// tail is a writer that keeps the last part of what is written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailLimit = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailLimit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.buf, []byte("?")))
}
