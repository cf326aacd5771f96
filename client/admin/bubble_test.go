package admin

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// streams are all that iterate, told of each yield.
var streams = map[string]func(ctx context.Context, s *Server, told func(error)){
	"keys": func(ctx context.Context, s *Server, told func(error)) {
		for _, err := range s.Keys(ctx, AllClasses) {
			told(err)
		}
	},
	"watch": func(ctx context.Context, s *Server, told func(error)) {
		for _, err := range s.Watch(ctx) {
			told(err)
		}
	},
}

// inBubble runs f in a bubble of virtual time with a server that answers each dump
// and each watch with reply and no more.
func inBubble(t *testing.T, reply string, f func(*testing.T, *Server, *client.Client, *memcachedtest.Server)) {
	synctest.Test(t, func(t *testing.T) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none",
			Script: func(r memcachedtest.Request) memcachedtest.Action {
				if r.Line == metadump || r.Line == "watch" {
					return memcachedtest.Answer().Unexecuted().Instead([]byte(reply))
				}
				return memcachedtest.Answer()
			},
		})
		c, err := client.New([]string{srv.Addr()}, &client.Config{DialContext: srv.DialContext})
		require.NoError(t, err)
		defer c.Close()
		s, err := Of(c, srv.Addr())
		require.NoError(t, err)
		f(t, s, c, srv)
	})
}
