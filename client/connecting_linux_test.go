package client_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A tarpit is a TCP socket whose backlog is full: the kernel drops further SYNs
// (listen(2), tcp(7)), so connecting to it takes until it is opened, or for ever.
type tarpit struct {
	addr string
	sock *os.File
	full []net.Conn
}

func newTarpit(t *testing.T) *tarpit {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	p := &tarpit{sock: os.NewFile(uintptr(fd), "tarpit")}
	t.Cleanup(func() { _ = p.sock.Close() })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, unix.Listen(fd, 0))
	name, err := unix.Getsockname(fd)
	require.NoError(t, err)
	p.addr = fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 8 {
		c, err := net.DialTimeout("tcp", p.addr, 100*time.Millisecond)
		if err != nil {
			return p // it is full
		}
		p.full = append(p.full, c)
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the backlog of a socket does not fill")
	return nil
}

// open lets everybody in, to srv.
func (p *tarpit) open(t *testing.T, srv *memcachedtest.Server) {
	l, err := net.FileListener(p.sock)
	require.NoError(t, err)
	for _, c := range p.full {
		require.NoError(t, c.Close())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			srv.Serve(c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
}

// connectingCalls are one of each kind that connects in its own way.
func connectingCalls(c *client.Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"get":       func(ctx context.Context) error { _, err := c.Get(ctx, "k"); return err },
		"get multi": func(ctx context.Context) error { return firstError(c, ctx, "k", "l") },
		"ping":      c.Ping,
	}
}

// A call that waits for a connection ends at its deadline or with its context.
// Nothing was sent, and the attempt goes on for those that come later.
func TestGiveUpConnecting(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		t.Parallel() // it takes the kernel a second to knock again
		pit := newTarpit(t)
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
		c := dial(t, &client.Config{Engine: kind, ConnsPerServer: 1, OpTimeout: -1, DialTimeout: -1}, pit.addr)
		for what, call := range connectingCalls(c) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			err := call(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, what)
			require.True(t, client.SafeToRetry(err), what)
			require.Equal(t, client.NotSent, opError(t, err).Outcome, what)

			ctx, cancel = context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			err = call(ctx)
			require.ErrorIs(t, err, context.Canceled, what)
			require.True(t, client.SafeToRetry(err), what)
		}
		require.Zero(t, c.Counters().Dials)
		pit.open(t, srv)
		require.NoError(t, c.Ping(patient(t)))
		require.EqualValues(t, 1, c.Counters().Dials)
		require.Zero(t, c.Counters().Servers[pit.addr].FailedDials)
		require.Equal(t, 1, srv.RequestCount(), "what was not sent has arrived")
	})
}

// Close ends attempts to connect, and the calls that wait for them, at once.
func TestCloseWhileConnecting(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		pit := newTarpit(t)
		for range 5 {
			c, err := client.New([]string{pit.addr}, &client.Config{Engine: kind, OpTimeout: -1, DialTimeout: -1})
			require.NoError(t, err)
			errs := make(chan error)
			calls := connectingCalls(c)
			for _, call := range calls {
				go func() { errs <- call(context.Background()) }()
			}
			time.Sleep(time.Millisecond) // some are connecting by now
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() { _ = c.Close() })
			}
			wg.Wait()
			for range calls {
				err := <-errs
				require.ErrorIs(t, err, client.ErrClosed)
				require.True(t, client.SafeToRetry(err))
			}
			require.NoError(t, c.Close())
		}
	})
}
