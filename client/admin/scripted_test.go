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

const metadump = "lru_crawler metadump all"

// What a real memcached says seldom, or in another version only.
func TestScriptedKeys(t *testing.T) {
	const item = "key=a exp=-1 la=1 cas=2 fetch=no cls=3 size=4\n"
	for _, c := range []struct {
		name, reply string
		items       int
		want        error
	}{
		{"with OK first", "OK\r\n" + item + item + "END\r\n", 2, nil},
		{"without", item + "END\r\n", 1, nil},
		{"flags and a space", "OK\r\nkey=a exp=-1 la=1 cas=2 fetch=no cls=3 size=4 flags=5 \nEND\r\n", 1, nil},
		{"fields unheard of", "key=a exp=-1 ext_page=1 new=x=y word\nEND\r\n", 1, nil},
		{"empty", "END\r\n", 0, nil},
		{"empty after OK", "OK\r\nEND\r\n", 0, nil},
		{"no items", "NOTSTARTED no items to crawl\r\n", 0, nil},
		{"locked in the midst", item + "ERROR locked try again later\r\n", 1, ErrBusy},
		{"no such class", "BADCLASS invalid class id\r\n", 0, ErrBadClass},
		{"disabled", "CLIENT_ERROR lru crawler disabled\r\n", 0, ErrDisabled},
		{"not allowed", "ERROR metadump not allowed\r\n", 0, ErrDisabled},
		{"unknown", "ERROR\r\n", 0, client.ErrServer},
		{"an error nobody knows", item + "SERVER_ERROR secret\r\n", 1, client.ErrServer},
		{"OK twice", "OK\r\nOK\r\n", 0, client.ErrDesync},
		{"OK in the midst", item + "OK\r\n", 1, client.ErrDesync},
		{"NOTSTARTED in the midst", item + "NOTSTARTED secret\r\n", 1, ErrNothing},
		{"mgdump's end", "EN\r\n", 0, client.ErrDesync},
		{"no key", "exp=-1 la=1\nEND\r\n", 0, client.ErrDesync},
		{"empty key", "key= exp=-1\nEND\r\n", 0, client.ErrDesync},
		{"two keys", "key=secret key=a\nEND\r\n", 0, client.ErrDesync},
		{"key cut short", "key=secret%4\nEND\r\n", 0, client.ErrDesync},
		{"bad escape", "key=secret%4x\nEND\r\n", 0, client.ErrDesync},
		{"bad number", "key=secret cas=x\nEND\r\n", 0, client.ErrDesync},
		{"bad time", "key=secret exp=never\nEND\r\n", 0, client.ErrDesync},
		{"bad class", "key=secret cls=256\nEND\r\n", 0, client.ErrDesync},
		{"bad fetch", "key=secret fetch=maybe\nEND\r\n", 0, client.ErrDesync},
		{"a line of no kind", item + "secret\r\n", 1, client.ErrDesync},
		{"a line without end", item + "key=secret" + strings.Repeat("x", 1<<17), 1, client.ErrDesync},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s, _, _ := scripted(t, metadump, c.reply)
			items, err := collect(s.Keys(patient(t), AllClasses))
			require.Len(t, items, c.items)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestScriptedMGDump(t *testing.T) {
	for _, c := range []struct {
		name, reply string
		keys        []string
		want        error
	}{
		{"keys", "OK\r\nmg a\r\nmg YiBj b\r\nmg b\r\nmg EN\r\nEN\r\n", []string{"a", "b c", "b", "EN"}, nil},
		{"without OK", "mg a\r\nEN\r\n", []string{"a"}, nil},
		{"empty", "OK\r\nEN\r\n", nil, nil},
		{"too old", "ERROR\r\n", nil, client.ErrUnsupported},
		{"ERROR in the midst", "mg a\r\nERROR\r\n", []string{"a"}, client.ErrServer},
		{"not allowed", "ERROR key dump not allowed\r\n", nil, ErrDisabled},
		{"metadump's end", "OK\r\nEND\r\n", nil, client.ErrDesync},
		{"bad base64", "mg secret! b\r\n", nil, client.ErrDesync},
		{"no key", "mg \r\n", nil, client.ErrDesync},
		{"no base64", "mg  b\r\n", nil, client.ErrDesync},
		{"two words", "mg secret v\r\n", nil, client.ErrDesync},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s, _, _ := scripted(t, "lru_crawler mgdump all", c.reply)
			keys, err := collect(s.MGDump(patient(t), AllClasses))
			require.Equal(t, c.keys, keys)
			require.NotContains(t, keys, "secret")
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestScriptedWatch(t *testing.T) {
	for _, c := range []struct {
		reply   string
		entries int
		want    error
	}{
		{"ERROR\r\n", 0, client.ErrUnsupported},
		{"WATCHER_TOO_MANY log watcher limit reached\r\n", 0, ErrBusy},
		{"WATCHER_FAILED failed to add log watcher\r\n", 0, client.ErrServer},
		{"CLIENT_ERROR watch commands not allowed\r\n", 0, ErrDisabled},
		{"ts=1.2 gid=3 type=secret\n", 0, client.ErrDesync},
		{"OK\r\nts=1.2 gid=3 type=x\n" + strings.Repeat("x", 1<<17), 2, client.ErrDesync},
	} {
		s, _, _ := scripted(t, "watch mutations", c.reply)
		entries, err := collect(s.Watch(patient(t), Mutations))
		require.ErrorIs(t, err, c.want, "%q", c.reply)
		require.Len(t, entries, c.entries)
		require.NotContains(t, err.Error(), "secret")
	}
	s, _, _ := scripted(t, "watch mutations", "")
	_, err := collect(s.Watch(t.Context(), "mutations\r\nflush_all"))
	requireUnsent(t, err, client.ErrArgument)
	require.NotContains(t, err.Error(), "flush_all")
}

// A stream that waits is ended by all that ends it.
func TestStreamWaits(t *testing.T) {
	const begin = "OK\r\nkey=a exp=-1\n"
	ends := map[string]struct {
		end  func(c *client.Client, srv *memcachedtest.Server, cancel func())
		want error
	}{
		"cancel":     {func(_ *client.Client, _ *memcachedtest.Server, cancel func()) { cancel() }, context.Canceled},
		"close":      {func(c *client.Client, _ *memcachedtest.Server, _ func()) { c.Close() }, client.ErrClosed},
		"connection": {func(_ *client.Client, srv *memcachedtest.Server, _ func()) { srv.CloseConns() }, client.ErrConnLost},
		"reset":      {func(_ *client.Client, srv *memcachedtest.Server, _ func()) { srv.ResetConns() }, client.ErrConnLost},
	}
	for name, e := range ends {
		for kind, seq := range streams {
			t.Run(name+"/"+kind, func(t *testing.T) {
				inBubble(t, begin, func(t *testing.T, s *Server, c *client.Client, srv *memcachedtest.Server) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					n, over := 0, make(chan error)
					go func() {
						var last error
						seq(ctx, s, func(err error) {
							if last = err; err == nil {
								n++
							}
						})
						over <- last
					}()
					synctest.Wait() // it has read what there is
					e.end(c, srv, cancel)
					require.ErrorIs(t, <-over, e.want)
					require.NotZero(t, n)
				})
			})
		}
	}
}

// A dump that does not go on ends after Config.StallLimit, however long it took
// before; a watch that has nothing to tell does not.
func TestStall(t *testing.T) {
	inBubble(t, "OK\r\nkey=a exp=-1\n", func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Server) {
		began := time.Now()
		items, err := collect(s.Keys(t.Context(), AllClasses))
		require.ErrorIs(t, err, client.ErrTimeout)
		require.Len(t, items, 1)
		require.Equal(t, 10*time.Second, time.Since(began)) // the default

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Hour, cancel)
		entries, err := collect(s.Watch(ctx))
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, entries, 2) // Started, and one of no kind
		require.Equal(t, 100*time.Hour+10*time.Second, time.Since(began))
	})
	inBubble(t, "", func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Server) {
		began := time.Now()
		_, err := collect(s.Watch(t.Context()))
		require.ErrorIs(t, err, client.ErrTimeout)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}
