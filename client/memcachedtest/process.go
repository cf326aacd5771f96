package memcachedtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// startLimit bounds the start of a memcached, which takes some milliseconds.
// It is this long for the sake of overloaded machines only.
const startLimit = 30 * time.Second

// Process is a memcached started by [Start] or [Run]. Its methods may be
// called from any goroutine.
type Process struct {
	opts   Options
	binary string
	dir    string // ours alone: the socket and the port file lie here

	mu      sync.Mutex // held over starts and stops, so that these don't mix
	run     *running   // latest run, perhaps ended; never nil
	addr    string     // socket path, or port number
	version string
	closed  bool
}

// Start runs a memcached that lives until the test and its subtests have
// ended. It fails the test if there is no memcached or if it doesn't answer;
// it never skips.
func Start(tb testing.TB, opts Options) *Process {
	tb.Helper()
	p, err := Run(context.Background(), opts)
	if err != nil {
		tb.Fatalf("memcachedtest: %v", err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Errorf("memcachedtest: %v", err)
		}
	})
	return p
}

// Run starts a memcached and returns once it answers. ctx bounds the start
// alone. The caller ends the process with [Process.Close]; on Linux it also
// ends when the calling process does, however that dies.
func Run(ctx context.Context, opts Options) (*Process, error) {
	switch opts.Network {
	case "":
		opts.Network = "tcp"
	case "tcp", "unix":
	default:
		return nil, fmt.Errorf("memcached: unknown network %q: use tcp or unix", opts.Network)
	}
	binary, err := opts.binary()
	if err != nil {
		return nil, err
	}
	dir, err := shortTempDir()
	if err != nil {
		return nil, fmt.Errorf("memcached: temporary folder: %w", err)
	}
	p := &Process{opts: opts, binary: binary, dir: dir}
	if opts.Network == "unix" {
		p.addr = filepath.Join(dir, "s")
	}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// start starts the program and waits until it answers. The first start on TCP
// lets memcached bind a free port and tell which, so no other process can come
// in between; later ones ask for the same port again. Needs p.mu, except for
// the first start.
func (p *Process) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		r, err := p.startOnce(ctx)
		if err == nil {
			p.run = r
			return nil
		}
		// After a restart the port can still be held, by the kernel or by a
		// connection which was given this port number meanwhile. It mostly
		// comes free again.
		if p.opts.Network != "tcp" || p.addr == "" || !errors.Is(err, errPortTaken) || ctx.Err() != nil {
			return err
		}
		sleep(ctx, 50*time.Millisecond)
	}
}

func (p *Process) startOnce(ctx context.Context) (*running, error) {
	portFile, addr := "", p.addr
	switch {
	case p.opts.Network == "unix":
		if err := os.Remove(addr); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("memcached: old socket: %w", err)
		}
	case addr == "":
		portFile, addr = filepath.Join(p.dir, "port"), "-1"
	}
	r, err := startProgram(p.binary, p.opts.args(addr), portFile, p.opts.Output)
	if err != nil {
		return nil, fmt.Errorf("memcached: %w", err)
	}
	if portFile != "" {
		addr, err = r.readPort(ctx, portFile)
	}
	var version string
	if err == nil {
		version, err = r.waitReady(ctx, p.opts.Network, dialAddr(p.opts.Network, addr), p.opts.tls())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("memcached: %w", err), r.kill())
	}
	if p.addr == "" {
		p.addr = addr // once, so that Addr needs no lock
	}
	p.version = version
	return r, nil
}

func dialAddr(network, addr string) string {
	if network == "unix" {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", addr)
}

// Addr is the server's address as the client's New takes it: "127.0.0.1:port"
// or "unix:/path". It stays the same over [Process.Restart].
func (p *Process) Addr() string {
	if p.opts.Network == "unix" {
		return "unix:" + p.addr
	}
	return dialAddr(p.opts.Network, p.addr)
}

// DialAddr is the server's address as [net.Dial] takes it.
func (p *Process) DialAddr() (network, addr string) {
	return p.opts.Network, dialAddr(p.opts.Network, p.addr)
}

// Dial connects to the server.
func (p *Process) Dial() (net.Conn, error) {
	network, addr := p.DialAddr()
	return net.Dial(network, addr)
}

// Version is what the server answered to "version", such as "1.6.18", or empty
// if it wanted authentication or TLS first.
func (p *Process) Version() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// PID is the process id of the latest run.
func (p *Process) PID() int { return p.latest().cmd.Process.Pid }

// Done is closed when the latest run has ended, for whatever reason.
func (p *Process) Done() <-chan struct{} { return p.latest().done }

// Err is nil while the server runs. After it has ended, Err says how, with the
// last lines it printed.
func (p *Process) Err() error { return p.latest().err() }

func (p *Process) latest() *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// Signal sends sig to the server.
func (p *Process) Signal(sig os.Signal) error { return p.latest().cmd.Process.Signal(sig) }

// Stop kills the server and reaps it. Nil if it had ended before.
func (p *Process) Stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run.kill()
}

// Restart stops the server if it runs and starts a new, empty one on the same
// address. ctx bounds the start.
func (p *Process) Restart(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	if err := p.run.kill(); err != nil {
		return err
	}
	return p.start(ctx)
}

// Close stops the server and removes its temporary folder. Idempotent.
func (p *Process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(p.run.kill(), os.RemoveAll(p.dir))
}

// shortTempDir makes a folder whose path leaves room for a socket's name:
// sockaddr_un's path holds 104 to 108 bytes, which the folder of a test with a
// long name exceeds.
func shortTempDir() (string, error) {
	const limit = 95
	dir, err := os.MkdirTemp("", "mc")
	if err != nil || len(dir) <= limit {
		return dir, err
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", "mc")
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
