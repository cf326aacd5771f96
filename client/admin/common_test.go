package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// patience is the timeout of calls that shall succeed: none that works takes so long.
const patience = 20 * time.Second

var uringMissing = sync.OnceValue(func() error {
	c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
	if err != nil {
		return err
	}
	return c.Close()
})

// onEngines runs f on both engines.
func onEngines(t *testing.T, f func(t *testing.T, cfg *client.Config)) {
	t.Run("poll", func(t *testing.T) { f(t, &client.Config{Engine: client.Poll, OpTimeout: patience}) })
	t.Run("uring", func(t *testing.T) {
		if err := uringMissing(); err != nil {
			t.Skipf("there is no io_uring here, so this half cannot be tested: %v", err)
		}
		f(t, &client.Config{Engine: client.URing, OpTimeout: patience})
	})
}

// onMatrix runs f on both engines over both networks, each against a memcached of
// its own.
func onMatrix(t *testing.T, args []string, f func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process)) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(network, func(t *testing.T) {
				mc := memcachedtest.Start(t, memcachedtest.Options{Network: network, Args: args})
				s, c := dial(t, cfg, mc.Addr())
				f(t, s, c, mc)
			})
		}
	})
}

// dial makes a client that is closed with the test.
func dial(t *testing.T, cfg *client.Config, addr string) (*Server, *client.Client) {
	t.Helper()
	c, err := client.New([]string{addr}, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	s, err := Of(c, addr)
	require.NoError(t, err)
	return s, c
}

// scripted makes a server in the process that answers line with reply, which may be
// no more than a beginning: nothing else comes then.
func scripted(t *testing.T, line, reply string) (*Server, *client.Client, *memcachedtest.Server) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Script: func(r memcachedtest.Request) memcachedtest.Action {
		if r.Line == line {
			return memcachedtest.Answer().Unexecuted().Instead([]byte(reply))
		}
		return memcachedtest.Answer()
	}})
	s, c := dial(t, &client.Config{OpTimeout: patience}, srv.Addr())
	return s, c, srv
}

func set(t *testing.T, c *client.Client, key, value string) {
	t.Helper()
	require.NoError(t, c.Set(t.Context(), client.Item{Key: key, Value: []byte(value)}))
}

// send makes requests over a plain connection, which no client need understand.
func send(t *testing.T, mc *memcachedtest.Process, write func(w *bufio.Writer)) {
	t.Helper()
	nc, err := mc.Dial()
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, nc.SetDeadline(time.Now().Add(patience)))
	w := bufio.NewWriterSize(nc, 1<<16)
	write(w)
	_, err = io.WriteString(w, "mn\r\n")
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	for r := bufio.NewScanner(nc); r.Scan(); {
		if r.Text() == "MN" {
			return
		}
	}
	t.Fatal("the server has not answered")
}

// fill stores n items with small values under the keys key-0, key-1, ….
func fill(t *testing.T, mc *memcachedtest.Process, n int) {
	t.Helper()
	send(t, mc, func(w *bufio.Writer) {
		for i := range n {
			fmt.Fprintf(w, "set key-%d 0 0 1 noreply\r\nx\r\n", i)
		}
	})
}

// atLeast reports whether a memcached is 1.6.patch or newer.
func atLeast(t *testing.T, mc *memcachedtest.Process, patch int) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(mc.Version(), "1.6."))
	require.NoError(t, err)
	return n >= patch
}

// eventually waits for cond, which asynchronous work makes true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// requireRefused wants an OpError of a server that has said no.
func requireRefused(t *testing.T, err, want error, op string, s *Server) {
	t.Helper()
	var e *client.OpError
	require.Truef(t, errors.As(err, &e), "%T %v is no *OpError", err, err)
	require.ErrorIs(t, err, want)
	require.Equal(t, client.OpError{Op: op, Server: s.Addr(), Outcome: client.Answered, Err: e.Err}, *e)
}

// requireUnsent wants a call refused before anything was sent.
func requireUnsent(t *testing.T, err, want error) {
	t.Helper()
	require.ErrorIs(t, err, want)
	require.True(t, client.SafeToRetry(err))
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
