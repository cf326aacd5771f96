package typed_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/typed"
)

// Of callers that miss together one loads, and each gets a value of its own.
func TestGetOrLoad(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		cache := cacheOf(t, c, typed.JSON[*user](), &typed.Config{Compressor: typed.Gzip()})
		var loads atomic.Int32
		load := func(context.Context) (typed.Item[*user], error) {
			loads.Add(1)
			return typed.Item[*user]{Value: ptr(large()), Flags: 5}, nil
		}
		const callers = 8
		got := make([]*user, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				it, err := cache.GetOrLoad(patient(t), "k", load, client.LoadOptions{TTL: time.Hour})
				if err != nil {
					t.Errorf("caller %d: %v", i, err)
					return
				}
				got[i] = it.Value
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, loads.Load())
		for i, u := range got {
			require.Equal(t, large(), *u)
			u.Tags[0] = "changed"
			for _, other := range got[:i] {
				require.NotSame(t, other, u)
			}
		}
		it, err := cache.Get(patient(t), "k")
		require.NoError(t, err)
		require.Equal(t, large(), *it.Value)
		require.EqualValues(t, 5, it.Flags)

		// Bytes are the caller's own, too, although nothing decodes them.
		raw := cacheOf(t, c, typed.Bytes(), nil)
		for range 2 {
			it, err := raw.GetOrLoad(patient(t), "b", func(context.Context) (typed.Item[[]byte], error) {
				return typed.Item[[]byte]{Value: []byte("bytes")}, nil
			}, client.LoadOptions{})
			require.NoError(t, err)
			require.Equal(t, "bytes", string(it.Value))
			it.Value[0] = '!'
		}

		broken := errors.New("broken")
		_, err = cache.GetOrLoad(patient(t), "none", func(context.Context) (typed.Item[*user], error) {
			return typed.Item[*user]{}, broken
		}, client.LoadOptions{})
		require.ErrorIs(t, err, broken)
		_, err = cacheOf(t, c, typed.Gob[*user](), nil).GetOrLoad(patient(t), "none", func(context.Context) (typed.Item[*user], error) {
			return typed.Item[*user]{}, nil // which gob cannot encode
		}, client.LoadOptions{})
		var encode *typed.EncodeError
		require.ErrorAs(t, err, &encode)
		_, err = cache.GetOrLoad(patient(t), "none", nil, client.LoadOptions{})
		require.ErrorIs(t, err, client.ErrArgument)
		_, err = cache.Get(patient(t), "none")
		require.ErrorIs(t, err, client.ErrNotFound)
	})
}

// An item that cannot be decoded is an error, or loaded anew.
func TestGetOrLoadUndecodable(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		load := func(context.Context) (typed.Item[user], error) {
			return typed.Item[user]{Value: user{Name: "Ada"}}, nil
		}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("{")}))
		_, err := cacheOf(t, c, typed.JSON[user](), nil).GetOrLoad(patient(t), "k", load, client.LoadOptions{})
		var decode *typed.DecodeError
		require.ErrorAs(t, err, &decode)
		it, err := c.Get(patient(t), "k")
		require.NoError(t, err)
		require.Equal(t, "{", string(it.Value), "it stays")

		lenient := cacheOf(t, c, typed.JSON[user](), &typed.Config{UndecodableIsMiss: true})
		u, err := lenient.GetOrLoad(patient(t), "k", load, client.LoadOptions{})
		require.NoError(t, err)
		require.Equal(t, "Ada", u.Value.Name)
		it, err = c.Get(patient(t), "k")
		require.NoError(t, err)
		require.JSONEq(t, `{"name": "Ada"}`, string(it.Value))
	})
}

// What cannot be decoded even after a load is an error, not loaded for ever; what
// cannot be deleted is, too, and told.
func TestGetOrLoadUndecodableStill(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		cache := cacheOf(t, c, oneWay{typed.String()}, &typed.Config{UndecodableIsMiss: true})
		loads := 0
		load := func(context.Context) (typed.Item[string], error) {
			loads++
			return typed.Item[string]{Value: "text"}, nil
		}
		for range 2 {
			_, err := cache.GetOrLoad(patient(t), "k", load, client.LoadOptions{})
			require.ErrorIs(t, err, typed.ErrCodec)
			require.ErrorIs(t, err, client.ErrNotFound)
		}
		require.Equal(t, 2, loads, "the second call has loaded anew")
	})

	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("md", memcachedtest.ErrorLine("SERVER_ERROR busy")),
	})
	c, err := client.New([]string{srv.Addr()}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	cache := cacheOf(t, c, typed.JSON[user](), &typed.Config{UndecodableIsMiss: true})
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("{")}))
	var told []error
	_, err = cache.GetOrLoad(patient(t), "k", func(context.Context) (typed.Item[user], error) {
		t.Error("loaded, although the value is there")
		return typed.Item[user]{}, nil
	}, client.LoadOptions{Notify: func(err error) { told = append(told, err) }})
	require.ErrorIs(t, err, typed.ErrCodec)
	require.Len(t, told, 1)
	require.ErrorIs(t, told[0], client.ErrServer)
	require.EqualValues(t, 2, cache.Undecodable())
	for _, r := range srv.Requests() {
		_, only := r.Flag('C')
		require.True(t, only || r.Command != "md", "what somebody else has stored meanwhile would be deleted")
	}
}

// oneWay is a codec that cannot decode.
type oneWay struct{ typed.Codec[string] }

func (oneWay) Decode([]byte) (string, error) { return "", errors.New("no way back") }
