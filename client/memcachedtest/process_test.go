package memcachedtest

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var networks = []string{"tcp", "unix"}

func ask(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := io.WriteString(c, request)
	require.NoError(t, err)
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	return line
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial(network, addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestProcessServesAndEnds(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			p, err := Run(t.Context(), Options{Network: network, Threads: 2, MemoryMiB: 32, ItemLimitBytes: 2 << 20, MaxConns: 100})
			require.NoError(t, err)
			defer p.Close()
			assert.NotEmpty(t, p.Version())
			assert.NoError(t, p.Err())
			network, addr := p.DialAddr()
			if network == "unix" {
				assert.Equal(t, "unix:"+addr, p.Addr())
			} else {
				assert.Equal(t, addr, p.Addr())
			}
			c := dial(t, network, addr)
			assert.Equal(t, "MN\r\n", ask(t, c, "mn\r\n"))

			require.NoError(t, p.Close())
			require.NoError(t, p.Close(), "Close is idempotent")
			<-p.Done()
			assert.Error(t, p.Err())
			_, err = net.Dial(network, addr)
			assert.Error(t, err)
			_, err = os.Stat(p.dir)
			assert.ErrorIs(t, err, os.ErrNotExist)
			assert.ErrorIs(t, p.Restart(t.Context()), os.ErrClosed)
		})
	}
}

func TestProcessRestartsOnTheSameAddress(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			p := Start(t, Options{Network: network})
			addr, pid := p.Addr(), p.PID()
			c := dial(t, network, dialAddr(network, p.addr))
			assert.Equal(t, "HD\r\n", ask(t, c, "ms k 1\r\nv\r\n"))
			require.NoError(t, p.Restart(t.Context()))
			assert.Equal(t, addr, p.Addr())
			assert.NotEqual(t, pid, p.PID())
			c = dial(t, network, dialAddr(network, p.addr))
			assert.Equal(t, "EN\r\n", ask(t, c, "mg k v\r\n"), "a restarted server is empty")

			require.NoError(t, p.Stop())
			assert.Error(t, p.Err())
			require.NoError(t, p.Restart(t.Context()))
			assert.NoError(t, p.Err())
		})
	}
}

func TestRestartWaitsForItsPort(t *testing.T) {
	p := Start(t, Options{})
	require.NoError(t, p.Stop())
	squatter, err := net.Listen("tcp", p.Addr())
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	restarted := make(chan error)
	go func() { restarted <- p.Restart(ctx) }()
	defer cancel(nil)
	require.NoError(t, squatter.Close())
	require.NoError(t, <-restarted)
	c := dial(t, "tcp", p.Addr())
	assert.Equal(t, "MN\r\n", ask(t, c, "mn\r\n"))
}

func TestMissingBinary(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Run(t.Context(), Options{})
	require.ErrorIs(t, err, ErrNoMemcached)
	assert.Contains(t, err.Error(), "scripts/memcached.sh")

	tb := &fatalRecorder{TB: t}
	func() {
		defer func() { _ = recover() }()
		Start(tb, Options{})
	}()
	assert.Contains(t, tb.message, "scripts/memcached.sh")
}

func TestBadOptions(t *testing.T) {
	_, err := Run(t.Context(), Options{Network: "udp"})
	assert.ErrorContains(t, err, "udp")
	_, err = Run(t.Context(), Options{Args: []string{"--no-such-option"}})
	assert.ErrorContains(t, err, "no-such-option", "what memcached printed is part of the error")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, Options{})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestOutputIsPassedOn(t *testing.T) {
	var out strings.Builder
	p := Start(t, Options{Args: []string{"-vv"}, Output: &out})
	require.NoError(t, p.Close())
	assert.Contains(t, out.String(), "slab class")
}

type fatalRecorder struct {
	testing.TB
	message string
}

func (f *fatalRecorder) Helper() {}

func (f *fatalRecorder) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.message += err.Error()
		}
	}
	panic(f.message + format)
}
