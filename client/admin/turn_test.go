package admin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

const (
	busy   = "BUSY currently processing crawler request\r\n"
	locked = "OK\r\nERROR locked try again later\r\n"
	dumped = "OK\r\nkey=a exp=-1\nEND\r\n"
)

// inTurn runs f in a bubble of virtual time with a server that turns so many dumps
// away before it carries one out. asked says how many there were.
func inTurn(t *testing.T, away int, refusal string, f func(t *testing.T, s *Server, c *client.Client, asked *int)) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none",
			Script: func(r memcachedtest.Request) memcachedtest.Action {
				if !strings.HasPrefix(r.Line, "lru_crawler ") {
					return memcachedtest.Answer()
				}
				reply := dumped
				if asked++; asked <= away {
					reply = refusal
				}
				return memcachedtest.Answer().Unexecuted().Instead([]byte(reply))
			},
		})
		c, err := client.New([]string{srv.Addr()}, &client.Config{DialContext: srv.DialContext})
		require.NoError(t, err)
		defer c.Close()
		s, err := Of(c, srv.Addr())
		require.NoError(t, err)
		f(t, s, c, &asked)
	})
}

func TestTurn(t *testing.T) {
	for _, refusal := range []string{busy, locked} {
		inTurn(t, 3, refusal, func(t *testing.T, s *Server, _ *client.Client, asked *int) {
			begun := time.Now()
			require.Len(t, whole(t, s.Keys(t.Context(), AllClasses)), 1)
			require.Equal(t, 4, *asked)
			require.Equal(t, 7*time.Millisecond, time.Since(begun)) // 1 + 2 + 4
		})
	}
}

// Nobody waits for longer than the client's limit.
func TestTurnNeverComes(t *testing.T) {
	for _, refusal := range []string{busy, locked} {
		inTurn(t, 1<<30, refusal, func(t *testing.T, s *Server, _ *client.Client, asked *int) {
			begun := time.Now()
			_, err := collect(s.Keys(t.Context(), AllClasses))
			requireRefused(t, err, ErrBusy, "lru_crawler metadump", s)
			require.ErrorIs(t, err, client.ErrServer)
			var line *client.ServerError
			require.ErrorAs(t, err, &line)
			require.Contains(t, refusal, line.Line+"\r\n")
			require.InDelta(t, 10*time.Second, time.Since(begun), float64(longestPause))
			require.InDelta(t, 100, *asked, 10)
		})
	}
}

// One that waits is ended by all that ends it.
func TestTurnGivenUp(t *testing.T) {
	for name, e := range map[string]struct {
		end  func(c *client.Client, cancel func())
		want error
	}{
		"cancel": {func(_ *client.Client, cancel func()) { cancel() }, context.Canceled},
		"close":  {func(c *client.Client, _ func()) { c.Close() }, client.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			inTurn(t, 1<<30, busy, func(t *testing.T, s *Server, c *client.Client, _ *int) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begun := time.Now()
				time.AfterFunc(time.Second+time.Microsecond, func() { e.end(c, cancel) })
				_, err := collect(s.MGDump(ctx, AllClasses))
				require.ErrorIs(t, err, e.want)
				require.Equal(t, time.Second+time.Microsecond, time.Since(begun))
			})
		})
	}
}
