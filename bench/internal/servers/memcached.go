package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"time"
)

// Server is one running server.
type Server struct {
	*Process
	Network, Addr string
}

// startWait is how long a server may take until it accepts connections.
const startWait = 5 * time.Second

// FindMemcached returns the path and version of memcached.
func FindMemcached() (path, version string, err error) {
	if path, err = exec.LookPath("memcached"); err != nil {
		return "", "", errors.New("memcached is not on PATH: run scripts/memcached.sh, which installs it, or install it with your package manager")
	}
	out, err := exec.Command(path, "-V").Output()
	if err != nil {
		return "", "", fmt.Errorf("%s -V: %w", path, err)
	}
	return path, strings.TrimSpace(strings.TrimPrefix(string(out), "memcached ")), nil
}

// memcachedArgs are the same for both: one thread, as one client is compared with another, not a server;
// room for the values of all sizes.
func memcachedArgs(path string) []string {
	args := []string{path, "-t", "1", "-U", "0", "-m", "1024", "-I", "16m", "-c", "16384"}
	if u, err := user.Current(); err == nil && u.Uid == "0" {
		args = append(args, "-u", u.Username)
	}
	return args
}

// MemcachedUnix starts memcached on a UNIX socket. exe is this program, see [Guard].
func MemcachedUnix(ctx context.Context, exe, memcached, socket string) (*Server, error) {
	args := append([]string{GuardFlag}, append(memcachedArgs(memcached), "-s", socket)...)
	return ready(ctx, "memcached on the UNIX socket", exec.Command(exe, args...), "unix", socket)
}

// portTries is how often a free port is looked for: another program may take it first.
const portTries = 3

// MemcachedTCP starts memcached on a port of the loopback address; port 0 takes a free one.
func MemcachedTCP(ctx context.Context, exe, memcached string, port int) (*Server, error) {
	for try := 1; ; try++ {
		addr, err := claim(port)
		if err != nil {
			return nil, err
		}
		host, p, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		args := append([]string{GuardFlag}, append(memcachedArgs(memcached), "-l", host, "-p", p)...)
		s, err := ready(ctx, "memcached on TCP port "+p, exec.Command(exe, args...), "tcp", addr)
		if err == nil || port != 0 || try == portTries || ctx.Err() != nil {
			return s, err
		}
	}
}

// claim checks that a port is free, or finds one.
func claim(port int) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && port != 0 {
		return "", fmt.Errorf("TCP port %d is taken (%w): choose another with -port, or leave -port out and a free one is used", port, err)
	}
	if err != nil {
		return "", fmt.Errorf("looking for a free TCP port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// ready starts a server and waits until it accepts connections.
func ready(ctx context.Context, name string, cmd *exec.Cmd, network, addr string) (*Server, error) {
	p, err := Start(name, cmd, false)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var dial net.Dialer
	for {
		conn, err := dial.DialContext(ctx, network, addr)
		if err == nil {
			conn.Close()
			return &Server{p, network, addr}, nil
		}
		select {
		case <-p.Done():
			return nil, p.Death()
		case <-ctx.Done():
			p.Stop()
			return nil, fmt.Errorf("%s accepts no connection: %w", name, err)
		case <-tick.C:
		}
	}
}
