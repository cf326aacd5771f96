package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// rawClient makes a client that is closed with the test.
func rawClient(t *testing.T, cfg *Config, server string) *Client {
	cl, err := New([]string{server}, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	return cl
}

// sayRaw makes one request on a raw connection and returns the line of its reply.
func sayRaw(t *testing.T, nc net.Conn, request string) string {
	require.NoError(t, nc.SetDeadline(time.Now().Add(20*time.Second)))
	_, err := io.WriteString(nc, request)
	require.NoError(t, err)
	line, err := bufio.NewReader(nc).ReadString('\n')
	require.NoError(t, err)
	return line
}

func TestDialRaw(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: network})
		cl := rawClient(t, nil, mc.Addr())
		nc, err := cl.dialRaw(t.Context(), cl.servers[0])
		require.NoError(t, err)
		require.Equal(t, "MN\r\n", sayRaw(t, nc, "mn\r\n"))
		require.NoError(t, nc.Close())

		require.NoError(t, mc.Stop())
		_, err = cl.dialRaw(t.Context(), cl.servers[0])
		require.ErrorIs(t, err, ErrUnavailable)
		require.NoError(t, cl.Close())
		_, err = cl.dialRaw(t.Context(), cl.servers[0])
		require.ErrorIs(t, err, ErrClosed)
	}
}

// What ends the making of a raw connection is told apart.
func TestDialRawEnds(t *testing.T) {
	dialling := make(chan struct{}, 1)
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialling <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	cl := rawClient(t, &Config{DialContext: hang, DialTimeout: time.Millisecond}, "127.0.0.1:1")
	_, err := cl.dialRaw(t.Context(), cl.servers[0])
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "Config.DialTimeout")
	<-dialling

	cl = rawClient(t, &Config{DialContext: hang, DialTimeout: -1}, "127.0.0.1:1")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the cause")
	errs := make(chan error)
	ask := func() { _, err := cl.dialRaw(ctx, cl.servers[0]); errs <- err }
	go ask()
	<-dialling
	cancel(cause)
	require.ErrorIs(t, <-errs, cause)

	ctx = t.Context()
	go ask()
	<-dialling
	require.NoError(t, cl.Close())
	require.ErrorIs(t, <-errs, ErrClosed)
}
