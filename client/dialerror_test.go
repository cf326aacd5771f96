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
