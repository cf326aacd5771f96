package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A call of which one request was carried out is not called NotSent because the next
// could not be.
func TestSecondRequestCannotBeSent(t *testing.T) {
	for name, call := range map[string]func(context.Context, *client.Client) error{
		"get": func(ctx context.Context, c *client.Client) error {
			_, err := c.Get(ctx, "k", client.GetOptions{UnlessCAS: 1 << 40, Vivify: time.Minute})
			return err
		},
		"append": func(ctx context.Context, c *client.Client) error {
			return c.Append(ctx, client.Item{Key: "k"}, client.StoreOptions{Create: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				require.NoError(t, c.Ping(patient(t)))
				refused := make(chan error, 1)
				srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
					if r.Key != "k" {
						return memcachedtest.Answer()
					}
					refused <- srv.Refuse(true)
					return memcachedtest.Answer().Close()
				})
				err := call(patient(t), c)
				require.NoError(t, <-refused)
				require.Error(t, err)
				require.Equal(t, client.Unknown.String(), opError(t, err).Outcome.String(), "%v", err)
				require.False(t, client.SafeToRetry(err))
				require.Equal(t, name, opError(t, err).Op)
				require.Zero(t, c.Counters().Desyncs)
			})
		})
	}
}
