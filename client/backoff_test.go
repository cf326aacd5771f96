package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A server that accepts connections only to end them, or speaks only to refuse,
// is not dialled without pause, and is no desync.
func TestRefusingServer(t *testing.T) {
	for name, opts := range map[string]memcachedtest.ServerOptions{
		"closes":      {OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnClose }},
		"resets":      {OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnReset }},
		"is full":     {Script: always(memcachedtest.ErrorLine("ERROR Too many open connections").Close())},
		"wants login": {Script: always(memcachedtest.ErrorLine("CLIENT_ERROR unauthenticated").Close())},
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, opts, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				calls := 0
				for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); calls++ {
					if calls%2 == 0 {
						require.Error(t, c.Ping(patient(t)))
					} else {
						require.Error(t, firstError(c, patient(t), "k"))
					}
				}
				// The pause doubles from 10 ms on: a handful of attempts in 300 ms,
				// and no more than the calls that a slow machine makes.
				require.Less(t, srv.ConnCount(), 40)
				require.Zero(t, c.Counters().Desyncs)
			})
		})
	}
}

func always(a memcachedtest.Action) memcachedtest.Script {
	return func(memcachedtest.Request) memcachedtest.Action { return a }
}
