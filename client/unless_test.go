package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// unlessGets is every get that can leave the value where it is.
var unlessGets = map[string]func(c *client.Client, ctx context.Context, key string, g client.GetOptions) ([]byte, client.Item, error){
	"get": func(c *client.Client, ctx context.Context, key string, g client.GetOptions) ([]byte, client.Item, error) {
		it, err := c.Get(ctx, key, g)
		return it.Value, it, err
	},
	"append": func(c *client.Client, ctx context.Context, key string, g client.GetOptions) ([]byte, client.Item, error) {
		return c.GetAppend(ctx, nil, key, g)
	},
	"lease": func(c *client.Client, ctx context.Context, key string, g client.GetOptions) ([]byte, client.Item, error) {
		l, err := c.GetLease(ctx, key, g)
		value := append([]byte(nil), l.Value...)
		if r := l.Release(); r != nil {
			return nil, client.Item{}, r
		}
		return value, l.Item, err
	},
}

func checkUnless(t *testing.T, c *client.Client) {
	for name, get := range unlessGets {
		key := "k-" + name
		var cas uint64
		require.NoError(t, c.Set(patient(t), client.Item{Key: key, Value: []byte("first"), Flags: 3, TTL: time.Minute}, client.StoreOptions{StoredCAS: &cas}))
		g := client.GetOptions{UnlessCAS: cas, Info: true, Touch: time.Hour}
		value, it, err := get(c, patient(t), key, g)
		require.ErrorIs(t, err, client.ErrNotModified, name)
		require.Equal(t, client.Answered, opError(t, err).Outcome)
		require.False(t, client.SafeToRetry(err))
		require.Empty(t, value)
		require.Equal(t, key, it.Key)
		require.Equal(t, cas, it.CAS)
		require.EqualValues(t, 3, it.Flags)
		nearly(t, time.Minute, it.Info.TTL)
		require.Zero(t, it.Info.Size)

		g = client.GetOptions{UnlessCAS: cas + 1, Info: true}
		value, it, err = get(c, patient(t), key, g)
		require.NoError(t, err, name)
		require.Equal(t, "first", string(value))
		require.Equal(t, cas, it.CAS)
		nearly(t, time.Hour, it.Info.TTL) // it was touched all the same
		require.Equal(t, 5, it.Info.Size)

		require.NoError(t, c.Set(patient(t), client.Item{Key: key, Value: []byte("second")}))
		value, it, err = get(c, patient(t), key, client.GetOptions{UnlessCAS: cas, NoBump: true})
		require.NoError(t, err)
		require.Equal(t, "second", string(value))
		require.NotEqual(t, cas, it.CAS)
		require.Nil(t, it.Info)

		// Who has won the item is told so, with the value or without.
		require.NoError(t, c.Delete(patient(t), key, client.DeleteOptions{Invalidate: true}))
		it, err = c.Inspect(patient(t), key)
		require.NoError(t, err)
		require.Equal(t, client.Won|client.Stale, it.State)
		value, it, err = get(c, patient(t), key, client.GetOptions{UnlessCAS: it.CAS})
		require.ErrorIs(t, err, client.ErrNotModified)
		require.Empty(t, value)
		require.Equal(t, client.Claimed|client.Stale, it.State)
		require.NoError(t, c.Set(patient(t), client.Item{Key: key, Value: []byte("third"), TTL: time.Minute}))
		value, it, err = get(c, patient(t), key, client.GetOptions{UnlessCAS: cas, Recache: time.Hour})
		require.NoError(t, err)
		require.Equal(t, "third", string(value))
		require.Equal(t, client.Won, it.State)

		require.NoError(t, c.Delete(patient(t), key))
		value, it, err = get(c, patient(t), key, client.GetOptions{UnlessCAS: cas})
		require.ErrorIs(t, err, client.ErrNotFound)
		require.Empty(t, value)
		require.Equal(t, client.Item{}, it)
		value, it, err = get(c, patient(t), key, client.GetOptions{UnlessCAS: cas, Vivify: time.Minute})
		require.NoError(t, err)
		require.Empty(t, value)
		require.Equal(t, client.Won, it.State)
	}
	n := c.Counters()
	require.Zero(t, n.Losses)
	require.EqualValues(t, 1, n.Dials)
}

func TestUnlessCAS(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) { checkUnless(t, c) })
}

func TestUnlessCASByVersion(t *testing.T) {
	for _, version := range []string{"1.6.18", "1.6.45", "unknown"} {
		t.Run(version, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{Version: version}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				checkUnless(t, c)
				var asked, flagC int
				for _, r := range srv.Requests() {
					_, has := r.Flag('C')
					if r.Command == "mg" && has {
						flagC++
					}
					if r.Command == "version" {
						asked++
					}
				}
				require.Equal(t, 1, asked, "once for a connection")
				require.Equal(t, version == "1.6.45", flagC > 0)
			})
		})
	}
}

// dialOther makes another client for an onScript's server.
func dialOther(t *testing.T, srv *memcachedtest.Server) *client.Client {
	var cfg client.Config
	if strings.HasSuffix(t.Name(), "/guarded") {
		guard(&memcachedtest.ServerOptions{}, &cfg)
	}
	return dial(t, &cfg, srv.Addr())
}

// Between the two requests that an old server needs, others may do anything.
func TestUnlessCASRaces(t *testing.T) {
	for name, p := range map[string]struct {
		change func(ctx context.Context, other *client.Client) error
		g      client.GetOptions
		check  func(t *testing.T, it client.Item, err error)
	}{
		"stored": {
			func(ctx context.Context, other *client.Client) error {
				return other.Set(ctx, client.Item{Key: "k", Value: []byte("new"), Flags: 9})
			},
			client.GetOptions{Recache: time.Hour, Info: true},
			func(t *testing.T, it client.Item, err error) {
				require.NoError(t, err)
				require.Equal(t, "new", string(it.Value))
				require.EqualValues(t, 9, it.Flags)
				require.Zero(t, it.State, "the one that was won is gone")
				require.Negative(t, it.Info.TTL)
				require.Equal(t, 3, it.Info.Size)
			},
		},
		"invalidated": {
			func(ctx context.Context, other *client.Client) error {
				return other.Delete(ctx, "k", client.DeleteOptions{Invalidate: true})
			},
			client.GetOptions{},
			func(t *testing.T, it client.Item, err error) {
				require.NoError(t, err)
				require.Equal(t, "old", string(it.Value))
				require.Equal(t, client.Won|client.Stale, it.State)
			},
		},
		"nothing": {
			func(context.Context, *client.Client) error { return nil },
			client.GetOptions{Recache: time.Hour},
			func(t *testing.T, it client.Item, err error) {
				require.NoError(t, err)
				require.Equal(t, "old", string(it.Value))
				require.Equal(t, client.Won, it.State)
			},
		},
		"deleted": {
			func(ctx context.Context, other *client.Client) error { return other.Delete(ctx, "k") },
			client.GetOptions{},
			func(t *testing.T, it client.Item, err error) { require.ErrorIs(t, err, client.ErrNotFound) },
		},
		"deleted and made": {
			func(ctx context.Context, other *client.Client) error { return other.Delete(ctx, "k") },
			client.GetOptions{Vivify: time.Minute},
			func(t *testing.T, it client.Item, err error) {
				require.NoError(t, err)
				require.Empty(t, it.Value)
				require.Equal(t, client.Won, it.State)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				other := dialOther(t, srv)
				require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("old"), TTL: time.Minute}))
				changed := make(chan error, 1)
				srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
					// Before the second is carried out. The change goes by another connection.
					if r.Command == "mg" && strings.Contains(r.Line, " v") && len(changed) == 0 {
						changed <- p.change(patient(t), other)
					}
					return memcachedtest.Answer()
				})
				p.g.UnlessCAS = 1 << 60
				it, err := c.Get(patient(t), "k", p.g)
				require.NoError(t, <-changed)
				p.check(t, it, err)
			})
		})
	}
}
