package peers

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client"
)

// Confine runs this program anew, with args, as one to whose locked memory RLIMIT_MEMLOCK applies: without
// CAP_IPC_LOCK, which a process of root's has. It returns only if that fails.
func Confine(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the bounding set is a thread's, and exec goes on with this one's
	err = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_IPC_LOCK, 0, 0, 0)
	if err != nil && !errors.Is(err, unix.EPERM) { // EPERM: a user who has no capabilities to drop
		return fmt.Errorf("dropping CAP_IPC_LOCK: %w", err)
	}
	return syscall.Exec(exe, append([]string{exe}, args...), os.Environ())
}

// Locked memory is what io_uring's queues count as, and registered buffers. So many bytes more allow for
// the queues of one more ring, but not for a buffer.
const (
	memlockStep = 32 << 10
	memlockMost = 64 << 20
)

// unregistered makes open's client one whose receive buffers can't be registered: it raises
// RLIMIT_MEMLOCK, which counts what all processes of this user hold, to just what the ring takes, and then
// forbids any more. The process must be confined.
func unregistered(open func() (*client.Client, error)) func() (*client.Client, error) {
	return func() (*client.Client, error) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
			return nil, err
		}
		for limit.Cur = memlockStep; limit.Cur <= min(limit.Max, memlockMost); limit.Cur += memlockStep {
			if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
				return nil, err
			}
			c, err := open()
			if errors.Is(err, unix.ENOMEM) {
				continue
			}
			if err != nil {
				return nil, err
			}
			limit.Cur = 0
			if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
				return nil, errors.Join(err, c.Close())
			}
			if name, reason := c.Engine(); name != client.EngineURing || reason == nil {
				return nil, errors.Join(errors.New("RLIMIT_MEMLOCK did not keep the receive buffers from being registered"), c.Close())
			}
			return c, nil
		}
		return nil, fmt.Errorf("io_uring wants more locked memory than RLIMIT_MEMLOCK allows (%d KiB)", min(limit.Max, memlockMost)>>10)
	}
}
