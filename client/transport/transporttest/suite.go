package transporttest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memring/memring/client/transport"
)

// Options say what an engine can be tested with.
type Options struct {
	// Networks are run one after the other; if empty, "tcp" and "unix".
	Networks []string

	// Listen makes a server's listener, whose Addr().String() the engine can
	// dial. If nil, a socket of the operating system's.
	Listen func(tb testing.TB, network string) net.Listener

	// Conns is how many connections are opened at once in the case that opens
	// many. If zero, 2,000; if negative, that case is left out.
	Conns int

	// ZeroAlloc asserts that a request and its reply allocate nothing.
	ZeroAlloc bool

	// Bubble runs each case in a bubble of testing/synctest. Then no time
	// passes while anybody can go on, so the cases' deadlines are exact.
	Bubble bool

	// Watchdog is how long a case may take. If zero, a minute.
	Watchdog time.Duration
}

// A testCase is one promise of the seam.
type testCase struct {
	name  string
	means string // what a failure means
	only  string // the network that it needs, if any
	run   func(e *env)
}

// Run checks engines against every promise of package transport. newEngine is
// called for every case, before [Options].Listen; the engine is closed at its end.
func Run(t *testing.T, newEngine func(testing.TB) transport.Engine, opts Options) {
	networks := opts.Networks
	if len(networks) == 0 {
		networks = []string{"tcp", "unix"}
	}
	if opts.Listen == nil {
		opts.Listen = listenSocket
	}
	cases := slices.Concat(basicCases, windowCases, landingCases, flowCases, lendingCases, deadlineCases, chaosCases, idleCases, closeCases,
		severalCases, dialCases, massCases)
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			for _, c := range cases {
				if c.only != "" && c.only != network {
					continue
				}
				t.Run(c.name, func(t *testing.T) { runCase(t, c, network, newEngine, opts) })
			}
		})
	}
}

func runCase(t *testing.T, c testCase, network string, newEngine func(testing.TB) transport.Engine, opts Options) {
	limit := opts.Watchdog
	if limit == 0 {
		limit = time.Minute
	}
	watchdog := time.AfterFunc(limit, func() {
		buf := make([]byte, 16<<20)
		fmt.Fprintf(os.Stderr, "%s\n", buf[:runtime.Stack(buf, true)])
		panic(fmt.Sprintf("%s hangs. It means: %s", t.Name(), c.means))
	})
	defer watchdog.Stop()
	body := func(t *testing.T) {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("a failure of %s means: %s", c.name, c.means)
			}
		})
		e := &env{T: t, network: network, opts: opts, engine: newEngine(t)}
		t.Cleanup(func() {
			if err := e.engine.Close(); err != nil {
				t.Errorf("Engine.Close: %v", err)
			}
			e.checkClosed()
		})
		c.run(e)
	}
	if opts.Bubble {
		synctest.Test(t, body)
	} else {
		body(t)
	}
}

// listenSocket listens on a socket of its own.
func listenSocket(tb testing.TB, network string) net.Listener {
	addr := "127.0.0.1:0"
	if network == "unix" {
		// A path of a test's TempDir can be too long for a socket's name.
		dir, err := os.MkdirTemp("", "memring")
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = os.RemoveAll(dir) })
		addr = filepath.Join(dir, "s")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}
