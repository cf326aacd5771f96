package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play the guard.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == GuardFlag {
		os.Exit(Guard(os.Stdin, os.Args[2:]))
	}
	os.Exit(m.Run())
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var out tail
	require.Empty(t, out.String())
	for i := range 100 {
		fmt.Fprintf(&out, "line %d\n", i)
	}
	fmt.Fprint(&out, "and ha")
	fmt.Fprint(&out, "lf a line")
	got := strings.Split(out.String(), "\n")
	require.Len(t, got, tailLines+1)
	require.Equal(t, "  line 90", got[0])
	require.Equal(t, "  and half a line", got[tailLines])
}

func TestTakenPortIsExplained(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	_, err = claim(n)
	require.ErrorContains(t, err, "port "+port+" is taken")
	require.ErrorContains(t, err, "-port")
}

func TestMissingMemcachedIsExplained(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, err := FindMemcached()
	require.ErrorContains(t, err, "scripts/memcached.sh")
}

func TestDeathTellsTheLastWords(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	p, err := Start("the thing", exec.Command(exe, GuardFlag, "sh", "-c", "echo no memory >&2; exit 3"), false)
	require.NoError(t, err)
	<-p.Done()
	require.ErrorContains(t, p.Death(), "the thing died")
	require.ErrorContains(t, p.Death(), "no memory")
	p.Stop() // of what has ended does nothing
}

func TestStopEndsWhatTheGuardRuns(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	p, err := Start("sleep", exec.Command(exe, GuardFlag, "sleep", "1000"), false)
	require.NoError(t, err)
	p.Stop()
	require.NoError(t, p.err, "the guard has seen its command end")
}
