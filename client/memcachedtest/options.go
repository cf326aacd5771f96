package memcachedtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// ErrNoMemcached reports that there is no memcached to run.
var ErrNoMemcached = errors.New("memcached not found on PATH: run scripts/memcached.sh to install it")

// Options says which memcached [Start] and [Run] start. The zero value is a
// memcached with one thread on a free TCP port of 127.0.0.1.
type Options struct {
	// Binary is the program to run. If empty, "memcached" from PATH.
	Binary string

	// Network is "tcp" (127.0.0.1, a free port) or "unix" (a socket in a new
	// temporary folder). If empty, "tcp".
	Network string

	// Threads is the number of worker threads (-t). If zero, 1.
	Threads int

	// MemoryMiB is the memory for items in MiB (-m). If zero, 64.
	MemoryMiB int

	// ItemLimitBytes is the largest item (-I), which memcached wants between
	// 1 KiB and 1 GiB. If zero, the server's own default of 1 MiB.
	ItemLimitBytes int

	// MaxConns is the number of connections that memcached accepts at a time
	// (-c). If zero, the server's own default of 1,024. Above the hard limit
	// on open files, memcached refuses to start.
	MaxConns int

	// Args are further arguments, placed last. With -Z (TLS) among them the
	// server counts as ready once it accepts connections, and is not asked for
	// its version.
	Args []string

	// Output receives what memcached prints, both streams, until it has ended.
	// If nil, the last part is kept for error messages and the rest dropped.
	Output io.Writer
}

func (o Options) binary() (string, error) {
	name := o.Binary
	if name == "" {
		name = "memcached"
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case o.Binary == "":
		return "", ErrNoMemcached
	default:
		return "", fmt.Errorf("%w (looked for %q: %w)", ErrNoMemcached, name, err)
	}
}

// args are the command line's arguments for a server on addr: a socket's path,
// or a port with "-1" meaning any free one.
func (o Options) args(addr string) []string {
	var args []string
	if o.Network == "unix" {
		args = append(args, "-s", addr)
	} else {
		args = append(args, "-l", "127.0.0.1", "-p", addr, "-U", "0")
	}
	args = append(args, "-t", strconv.Itoa(max(o.Threads, 1)))
	if o.MemoryMiB > 0 {
		args = append(args, "-m", strconv.Itoa(o.MemoryMiB))
	}
	if o.ItemLimitBytes > 0 {
		args = append(args, "-I", strconv.Itoa(o.ItemLimitBytes))
		if o.ItemLimitBytes < 512<<10 {
			// memcached refuses a limit below the size of its chunks.
			args = append(args, "-o", "slab_chunk_max="+strconv.Itoa(o.ItemLimitBytes))
		}
	}
	if o.MaxConns > 0 {
		args = append(args, "-c", strconv.Itoa(o.MaxConns))
	}
	if os.Geteuid() == 0 {
		// memcached refuses to run as root unless it is told to by name.
		args = append(args, "-u", "root")
	}
	return append(args, o.Args...)
}

func (o Options) tls() bool {
	return slices.Contains(o.Args, "-Z") || slices.Contains(o.Args, "--enable-ssl")
}
