package worker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const sysEnter = "events/raw_syscalls/sys_enter/id"

// TracepointID finds the number of the tracepoint that counts system calls, and checks that this user may
// count with it. Where tracefs isn't mounted and this user may mount, exe is run with args in a mount
// namespace of its own (where it calls [PrintTracepoint]), so that nothing changes for anybody else.
func TracepointID(exe string, args ...string) (uint64, error) {
	id, err := readTracepoint("/sys/kernel/tracing")
	if err != nil {
		id, err = readTracepoint("/sys/kernel/debug/tracing")
	}
	if err != nil {
		cmd := exec.Command(exe, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, runErr := cmd.Output()
		if runErr != nil {
			return 0, fmt.Errorf("%w; mounting it privately: %w", err, runErr)
		}
		if id, err = parseTracepoint(out); err != nil {
			return 0, err
		}
	}
	return id, tryCounter(id)
}

// PrintTracepoint mounts tracefs in this process's own namespace and prints the tracepoint's number.
func PrintTracepoint() error {
	dir, err := os.MkdirTemp("", "memring-bench-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := unix.Mount("tracefs", dir, "tracefs", 0, ""); err != nil {
		return fmt.Errorf("mounting tracefs: %w", err)
	}
	defer func() { _ = unix.Unmount(dir, 0) }() // the namespace ends with this process anyway
	id, err := readTracepoint(dir)
	if err == nil {
		fmt.Println(id)
	}
	return err
}

func readTracepoint(tracefs string) (uint64, error) {
	b, err := os.ReadFile(filepath.Join(tracefs, sysEnter))
	if err != nil {
		return 0, err
	}
	return parseTracepoint(b)
}

func parseTracepoint(b []byte) (uint64, error) {
	return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
}

// tryCounter counts calls whose number is known.
func tryCounter(id uint64) error {
	const known = 100
	c, err := openCounter(id)
	if err != nil {
		return err
	}
	for range known {
		_, _, _ = unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
	}
	n, err := c.close()
	if err == nil && n < known {
		err = fmt.Errorf("the kernel's counter saw %d of %d system calls", n, known)
	}
	return err
}
