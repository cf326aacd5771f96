package client_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// metaOf splits a command line into a request: "mg key v T30".
func metaOf(line string) client.MetaRequest {
	words := strings.Fields(line)
	q := client.MetaRequest{Command: words[0]}
	if len(words) > 1 {
		q.Key = words[1]
	}
	for _, w := range words[min(2, len(words)):] {
		q.Flags = append(q.Flags, client.MetaFlag{Letter: w[0], Token: w[1:]})
	}
	return q
}

// textOf makes a line of a reply.
func textOf(r client.MetaReply) string {
	s := string(r.Status)
	for _, f := range r.Flags {
		s += " " + string(f.Letter) + f.Token
	}
	if r.Status == client.MetaVA {
		s += " = " + string(r.Value)
	}
	return s
}

func TestMeta(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		for _, p := range []struct{ line, value, want string }{
			{"mg k", "", "EN"},
			{"mg k k v", "", "EN kk"},
			{"ms k F7 T60 k", "value", "HD kk"},
			{"mg k", "", "HD"},
			{"mg k v", "", "VA = value"},
			{"mg k s v f k", "", "VA s5 f7 kk = value"},
			{"mg k Ppool L/a/b f", "", "HD f7"},
			{"ms k ME", "x", "NS"},
			{"ms k MA", "\r\nflush_all\r\n", "HD"},
			{"mg k v h", "", "VA h0 = value\r\nflush_all\r\n"},
			{"ms k C1", "x", "EX"},
			{"ms none C1", "x", "NF"},
			{"ms none MA C1", "x", "NS"},
			{"ms empty", "", "HD"},
			{"mg empty v", "", "VA = "},
			{"md k I T30", "", "HD"},
			{"mg k f", "", "HD f7 X W"},
			{"mg k", "", "HD Z X"},
			{"md k C1", "", "EX"},
			{"md k k", "", "HD kk"},
			{"md k", "", "NF"},
			{"mg viv N30", "", "HD W"},
			{"ma n", "", "NF"},
			{"ma n N0 J13 v", "", "VA = 13"},
			{"ma n MD D3 t v", "", "VA t-1 = 10"},
			{"ma n D5", "", "HD"},
			{"ma n C1", "", "EX"},
			{"mn", "", "MN"},
			{"mn any", "", "MN"},
			{"me none", "", "EN"},
		} {
			q := metaOf(p.line)
			q.Value = []byte(p.value)
			r, err := c.Meta(patient(t), q)
			require.NoError(t, err, p.line)
			require.Equal(t, p.want, textOf(r), p.line)
			require.Nil(t, r.Debug)
		}
		r, err := c.Meta(patient(t), metaOf("me n"))
		require.NoError(t, err)
		require.Equal(t, client.MetaME, r.Status)
		require.Equal(t, "-1", r.Debug["exp"])
		require.Equal(t, "no", r.Debug["fetch"])
		require.NotEmpty(t, r.Debug["cas"])
		cas, ok := r.Flag('c')
		require.False(t, ok)
		require.Empty(t, cas)
		r, err = c.Meta(patient(t), metaOf("mg n c"))
		require.NoError(t, err)
		cas, ok = r.Flag('c')
		require.True(t, ok)
		r, err = c.Meta(patient(t), metaOf("ma n v C"+cas))
		require.NoError(t, err)
		require.Equal(t, "VA = 16", textOf(r))

		// Error lines are errors as of any call.
		_, err = c.Meta(patient(t), metaOf("ma empty"))
		require.ErrorIs(t, err, client.ErrNotNumber)
		_, err = c.Meta(patient(t), metaOf("mg n Z"))
		require.ErrorIs(t, err, client.ErrServer)
		require.Equal(t, "meta", opError(t, err).Op)
		q := metaOf("ms n Y")
		q.Value = []byte("flush_all\r\n")
		_, err = c.Meta(patient(t), q)
		require.ErrorIs(t, err, client.ErrServer)
		q = metaOf("ms n MQ")
		q.Value = make([]byte, 5000)
		_, err = c.Meta(patient(t), q)
		require.ErrorIs(t, err, client.ErrServer)
		q = metaOf("ms n")
		q.Value = make([]byte, 2<<20)
		_, err = c.Meta(patient(t), q)
		require.ErrorIs(t, err, client.ErrTooLarge)
		require.Zero(t, c.Counters().Losses, "all in sync")
	})
}

// Keys go through the client's keyspace as with any other call.
func TestMetaKeys(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		c := dial(t, &client.Config{Engine: kind, KeyPrefix: "app:", BinaryKeys: true, HashLongKeys: true}, mc.Addr())
		for _, key := range []string{"plain", "a b", "\r\n", strings.Repeat("long", 100)} {
			require.NoError(t, c.Set(patient(t), client.Item{Key: key, Value: []byte(key)}))
			binary := key == "a b" || key == "\r\n"
			r, err := c.Meta(patient(t), client.MetaRequest{Command: "mg", Key: key, Flags: []client.MetaFlag{{'v', ""}}})
			require.NoError(t, err)
			require.Equal(t, key, string(r.Value))
			require.Empty(t, r.Flags, "what the client has added is not the caller's")
			r, err = c.Meta(patient(t), client.MetaRequest{Command: "mg", Key: key, Flags: []client.MetaFlag{{'k', ""}}})
			if binary {
				require.ErrorIs(t, err, client.ErrArgument)
			} else {
				require.NoError(t, err)
				k, _ := r.Flag('k')
				require.NotEmpty(t, k)
			}
			r, err = c.Meta(patient(t), client.MetaRequest{Command: "me", Key: key})
			if binary {
				require.ErrorIs(t, err, client.ErrArgument)
			} else {
				require.NoError(t, err)
				require.Equal(t, client.MetaME, r.Status)
				require.NotEmpty(t, r.Debug["cas"])
			}
			for _, command := range []string{"ma", "md"} {
				r, err = c.Meta(patient(t), client.MetaRequest{Command: command, Key: key + "-"})
				require.NoError(t, err)
				require.Equal(t, client.MetaNF, r.Status)
				require.Empty(t, r.Flags)
			}
		}
	})
}

func TestMetaOfSeveralServers(t *testing.T) {
	a, b := memcachedtest.NewServer(t, memcachedtest.ServerOptions{}), memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	c := dial(t, nil, a.Addr(), b.Addr())
	_, err := c.Meta(patient(t), metaOf("mn"))
	require.ErrorIs(t, err, client.ErrArgument)
	for _, k := range keysOf("key-%d", 20) {
		r, err := c.Meta(patient(t), client.MetaRequest{Command: "mn", Key: k})
		require.NoError(t, err)
		require.Equal(t, client.MetaMN, r.Status)
	}
	require.NotZero(t, a.RequestCount())
	require.NotZero(t, b.RequestCount())
}

func TestMetaUnlessCAS(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{Version: "1.6.45"}, client.Config{}, func(t *testing.T, c *client.Client, _ *memcachedtest.Server) {
		var cas uint64
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}, client.StoreOptions{NewCAS: 5, StoredCAS: &cas}))
		for line, want := range map[string]string{
			"mg k v C5": "HD", "mg k v c C5": "HD c5", "mg k v C6": "VA = v", "mg k C6 c v": "VA c5 = v", "mg k C5": "HD", "mg no v C5": "EN",
		} {
			r, err := c.Meta(patient(t), metaOf(line))
			require.NoError(t, err)
			require.Equal(t, want, textOf(r), line)
		}
		require.Zero(t, c.Counters().Losses)
	})
}

// What could not be one command in sync is refused.
func TestBadMeta(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	c := dial(t, nil, srv.Addr())
	long := strings.Repeat("x", 1000)
	for _, q := range []client.MetaRequest{
		{Key: "k"}, {Command: "get", Key: "k"}, {Command: "mg\r\nflush_all", Key: "k"}, {Command: "MG", Key: "k"},
		{Command: "mg", Key: "k", Value: []byte("v")}, {Command: "mn", Value: []byte("v")},
		metaOf("me k b"), metaOf("mn k v"),
		metaOf("mg k O1"), metaOf("mg k q"), metaOf("mg k b"), metaOf("ms k S5"), metaOf("mg k v v"), metaOf("mg k 1"), metaOf("mg k !"), metaOf("mg k \xff"),
		metaOf("mg k vx"), metaOf("mg k T"), metaOf("mg k Tx"), metaOf("mg k N99999999999"), metaOf("ms k Fx"), metaOf("ms k F4294967296"), metaOf("ms k C-1"),
		metaOf("ms k M"), metaOf("ms k MAE"), metaOf("ma k J18446744073709551616"), metaOf("ma k D"),
		{Command: "mg", Key: "k", Flags: []client.MetaFlag{{'P', "a b"}}}, {Command: "mg", Key: "k", Flags: []client.MetaFlag{{'L', "a\r\nflush_all\r\n"}}},
		{Command: "mg", Key: "k", Flags: []client.MetaFlag{{'v', "\n"}}}, {Command: "mg", Key: "k", Flags: []client.MetaFlag{{' ', ""}}}, {Command: "mg", Key: "k", Flags: []client.MetaFlag{{0, ""}}},
		metaOf("mg k A B D E F G H I J K L M N P"), metaOf("mg k P" + long + " L" + long + " Z" + long),
	} {
		_, err := c.Meta(patient(t), q)
		require.ErrorIs(t, err, client.ErrArgument, "%+v", q)
		require.True(t, client.SafeToRetry(err))
		require.NotContains(t, err.Error(), "flush_all\n")
	}
	for what, key := range badKeys {
		_, err := c.Meta(patient(t), client.MetaRequest{Command: "mg", Key: key})
		require.ErrorIs(t, err, client.ErrKey, what)
	}
	require.Empty(t, srv.Requests())
	var none *client.Client
	_, err := none.Meta(context.Background(), metaOf("mn"))
	require.ErrorIs(t, err, client.ErrNilClient)
}
