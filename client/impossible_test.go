package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A reply that its request cannot have is somebody else's: it is poison, even if
// nothing in it names another.
func TestImpossibleReplies(t *testing.T) {
	get := func(ctx context.Context, c *client.Client) error { _, err := c.Get(ctx, "a"); return err }
	set := func(ctx context.Context, c *client.Client) error { return c.Set(ctx, client.Item{Key: "a"}) }
	for _, p := range []struct {
		name, reply string
		call        func(context.Context, *client.Client) error
	}{
		{"get without value", "HD O1 ka\r\n", get},
		{"get not stored", "NS\r\n", get},
		{"get exists", "EX\r\n", get},
		{"set with value", "VA 3 O1\r\nabc\r\n", set},
		{"set missed", "EN\r\n", set},
		{"set exists", "EX\r\n", set},
		{"delete missed", "EN\r\n", func(ctx context.Context, c *client.Client) error { return c.Delete(ctx, "a") }},
		{"touch with value", "VA 0 ka O1\r\n\r\n", func(ctx context.Context, c *client.Client) error { return c.Touch(ctx, "a", 0) }},
		{"ping missed", "EN\r\n", func(ctx context.Context, c *client.Client) error { return c.Ping(ctx) }},
		{"version of another kind", "HD O1 ksecret\r\n", func(ctx context.Context, c *client.Client) error { _, err := c.Version(ctx); return err }},
		{"flush not found", "NOT_FOUND\r\n", func(ctx context.Context, c *client.Client) error { return c.FlushAll(ctx) }},
	} {
		t.Run(p.name, func(t *testing.T) {
			srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
				Script: func(memcachedtest.Request) memcachedtest.Action {
					return memcachedtest.Answer().Instead([]byte(p.reply))
				},
			})
			c := dial(t, nil, srv.Addr())
			require.ErrorIs(t, p.call(patient(t), c), client.ErrDesync)
		})
	}
}

// A value is handed out only when the line end behind it has been seen.
func TestMultiValueIsChecked(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		srv.SetScript(memcachedtest.OnCommand("gets", memcachedtest.Answer().Instead([]byte("VALUE a 0 5 1\r\nwhole\r\nVALUE b 0 3 1\r\nlonger\r\nEND\r\n"))))
		var lost []string
		for it, err := range c.GetMulti(patient(t), []string{"a", "b", "c"}) {
			if err != nil {
				require.ErrorIs(t, err, client.ErrDesync)
				lost = append(lost, opError(t, err).Keys...)
				continue
			}
			require.Equal(t, "whole", string(it.Value), it.Key)
		}
		require.Equal(t, []string{"b", "c"}, lost)
	})
}
