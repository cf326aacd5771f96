package client_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// inSim runs f in a bubble of virtual time with a client, whose attempts to
// connect dials counts.
func inSim(t *testing.T, f func(t *testing.T, srv *memcachedtest.Server, c *client.Client, dials func() int)) {
	synctest.Test(t, func(t *testing.T) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
		var n atomic.Int64
		c := dial(t, &client.Config{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			n.Add(1)
			return srv.DialContext(ctx, network, addr)
		}}, srv.Addr())
		f(t, srv, c, func() int { return int(n.Load()) })
	})
}

// packageDoc is the text of doc.go.
func packageDoc(t *testing.T) string {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}
