package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// nobody is the user that the memlock cases run as: root is above the limit.
const nobody = 65534

// refusals are the ways in which io_uring is refused or restricted, each with
// what Engine must say in it.
var refusals = []struct {
	name   string
	setUp  func() error
	engine string
	words  []string // in the reason; none: there must be no reason
}{
	{"nothing", func() error { return nil }, client.EngineURing, nil},
	{"seccomp EPERM", filter(unix.EPERM, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER),
		client.EnginePoll, []string{"seccomp", "io_uring_setup"}},
	{"seccomp ENOSYS", filter(unix.ENOSYS, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER),
		client.EnginePoll, []string{"Linux 5.11"}},
	{"enter refused", filter(unix.EPERM, unix.SYS_IO_URING_ENTER), client.EnginePoll, []string{"io_uring_enter", "seccomp"}},
	{"register refused", filter(unix.EPERM, unix.SYS_IO_URING_REGISTER), client.EnginePoll, []string{"io_uring_register", "seccomp"}},
	{"memlock 0", memlock(0), client.EnginePoll, []string{"RLIMIT_MEMLOCK is 0 KiB", "LimitMEMLOCK"}},
	{"memlock 64 KiB", memlock(64 << 10), client.EngineURing, []string{"RLIMIT_MEMLOCK is 64 KiB", "LimitMEMLOCK"}},
	{"memlock 8 MiB", memlock(8 << 20), client.EngineURing, nil},
}

// refusalReport is what the restricted process found.
type refusalReport struct {
	Engine, Reason, Err string
}

const refusalEnv, refusalAddr = "MEMRING_TEST_REFUSAL", "MEMRING_TEST_ADDR"

// The same program serves reads and writes wherever io_uring is refused, and
// says why it is not used in words that a person can act on. The test runs
// itself again under each restriction.
func TestURingRefused(t *testing.T) {
	if err := uringMissing(); err != nil {
		t.Skipf("io_uring is refused here already: %v", err)
	}
	// Two servers, so that there are two connections and two buffers.
	mc1 := memcachedtest.Start(t, memcachedtest.Options{})
	mc2 := memcachedtest.Start(t, memcachedtest.Options{})
	for i, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestURingRefusedChild$", "-test.count=1")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", refusalEnv, i), refusalAddr+"="+mc1.Addr()+" "+mc2.Addr())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			_, out, ok := bytes.Cut(out, []byte("REPORT "))
			require.True(t, ok, "%s", out)
			out, _, _ = bytes.Cut(out, []byte("\n"))
			var got refusalReport
			require.NoError(t, json.Unmarshal(out, &got), "%s", out)
			t.Logf("%+v", got)
			require.Empty(t, got.Err)
			require.Equal(t, r.engine, got.Engine)
			for _, w := range r.words {
				require.Contains(t, got.Reason, w)
			}
			if len(r.words) == 0 {
				require.Empty(t, got.Reason)
			}
		})
	}
}

// TestURingRefusedChild is the restricted process. It does nothing unless
// TestURingRefused has started it.
func TestURingRefusedChild(t *testing.T) {
	var n int
	if _, err := fmt.Sscan(os.Getenv(refusalEnv), &n); err != nil {
		return
	}
	require.NoError(t, refusals[n].setUp())
	c := dial(t, nil, strings.Fields(os.Getenv(refusalAddr))...)
	var rep refusalReport
	if err := readAndWrite(t, c); err != nil {
		rep.Err = err.Error()
	}
	name, reason := c.Engine()
	rep.Engine = name
	if reason != nil {
		rep.Reason = reason.Error()
	}
	out, err := json.Marshal(rep)
	require.NoError(t, err)
	fmt.Printf("REPORT %s\n", out)

	if rep.Engine == client.EnginePoll { // insisting on io_uring must fail
		_, err = client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
		require.ErrorContains(t, err, rep.Reason)
	}
}

// readAndWrite uses enough keys to meet both servers.
func readAndWrite(t *testing.T, c *client.Client) error {
	ctx := patient(t)
	keys := keysOf("refused-%d", 20)
	for _, k := range keys {
		if err := c.Set(ctx, client.Item{Key: k, Value: []byte(strings.Repeat(k, 1000))}); err != nil {
			return err
		}
	}
	for _, k := range keys {
		it, err := c.Get(ctx, k)
		if err != nil {
			return err
		}
		if string(it.Value) != strings.Repeat(k, 1000) {
			return fmt.Errorf("%s has another value", k)
		}
	}
	return firstError(c, ctx, keys...)
}

// filter installs a seccomp filter for the whole process that answers the given
// system calls with errno.
func filter(errno unix.Errno, calls ...uint32) func() error {
	return func() error {
		prog := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // seccomp_data.nr
		for _, nr := range calls {
			prog = append(prog,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: nr},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
		}
		prog = append(prog, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
		fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
		// Without privileges a filter needs no_new_privs on the calling thread;
		// TSYNC carries both over to the others.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("prctl: %w", err)
		}
		if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog))); e != 0 {
			return fmt.Errorf("seccomp: %w", e)
		}
		return nil
	}
}

// memlock lowers the limit on locked memory and gives up root, which it does
// not bind.
func memlock(n uint64) func() error {
	return func() error {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
		if os.Getuid() != 0 {
			return nil
		}
		if err := syscall.Setgid(nobody); err != nil {
			return err
		}
		return syscall.Setuid(nobody)
	}
}
