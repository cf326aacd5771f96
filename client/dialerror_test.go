package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/admin"
	"github.com/memring/memring/client/memcachedtest"
)

// A function of the user's that gives up by itself, as one does that asks a vault or a
// proxy with a limit of its own, is told apart from Config.DialTimeout and from the
// end of the call.
func TestDialFunctionsEnd(t *testing.T) {
	errProxy := errors.New("the proxy does not answer")
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Auth: func(string, string) bool { return true }})
		for _, cause := range []error{context.DeadlineExceeded, context.Canceled, client.ErrTimeout} {
			fails := fmt.Errorf("%w: %w", errProxy, cause)
			for name, cfg := range map[string]client.Config{
				"DialContext": {DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, fails }},
				"TLS":         {TLS: func(string) (*tls.Config, error) { return nil, fails }},
				"Credentials": {Credentials: func(context.Context, string) (client.Credential, error) { return client.Credential{}, fails }},
			} {
				if cfg.Engine = kind; cfg.DialContext != nil {
					cfg.Engine = client.Poll
				}
				for _, limit := range []time.Duration{0, -1} {
					cfg.DialTimeout, cfg.OpTimeout = limit, -1
					err := dial(t, &cfg, srv.Addr()).Set(context.Background(), client.Item{Key: "k"})
					require.ErrorIs(t, err, client.ErrUnavailable, name)
					require.ErrorIs(t, err, errProxy, name)
					require.ErrorContains(t, err, fails.Error(), name)
					require.NotContains(t, err.Error(), "Config.DialTimeout", name)
					require.NotErrorIs(t, err, cause, name)
					require.Equal(t, name == "Credentials", errors.Is(err, client.ErrAuth), name)
					require.True(t, client.SafeToRetry(err))
				}
			}
		}
	})
}

// timeless is a connection without deadlines, as a channel of package ssh is.
type timeless struct{ net.Conn }

var errTimeless = errors.New("deadline not supported")

func (timeless) SetDeadline(time.Time) error      { return errTimeless }
func (timeless) SetReadDeadline(time.Time) error  { return errTimeless }
func (timeless) SetWriteDeadline(time.Time) error { return errTimeless }

// A connection that nothing can interrupt is refused: a call on it would end when its
// server pleases.
func TestDialContextWithoutDeadlines(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnMute },
	})
	c := dial(t, &client.Config{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		return timeless{nc}, err
	}}, srv.Addr())
	ended := make(chan error, 1)
	go func() { ended <- c.Set(context.Background(), client.Item{Key: "k"}) }()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorIs(t, err, errTimeless)
	case <-time.After(20 * time.Second):
		require.FailNow(t, "the call's limit, of a second, does nothing")
	}
	s, err := admin.Of(c, srv.Addr())
	require.NoError(t, err)
	for _, err := range s.Keys(t.Context(), admin.AllClasses) {
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorIs(t, err, errTimeless)
		require.True(t, client.SafeToRetry(err))
	}
}
