package memcachedtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const childEnv = "MEMCACHEDTEST_CHILD"

// childOfTest is the program's part under test in TestDiesWithItsParent: it
// starts a memcached, prints its pid, and waits to be killed.
func childOfTest() bool {
	if os.Getenv(childEnv) == "" {
		return false
	}
	p, err := Run(context.Background(), Options{Network: "unix"})
	if err != nil {
		fmt.Println(err)
		return true
	}
	fmt.Println(p.PID(), p.dir)
	time.Sleep(time.Hour)
	return true
}

func TestDiesWithItsParent(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	child := exec.Command(exe)
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, dir, found := strings.Cut(strings.TrimSpace(line), " ")
	require.True(t, found, line)
	defer os.RemoveAll(dir)
	_, err = strconv.Atoi(pid)
	require.NoError(t, err)

	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	// The orphan is reaped by init, or stays a zombie where there is none.
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 10*time.Second, 5*time.Millisecond)
}
