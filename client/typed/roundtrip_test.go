package typed_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// configs are the ways to store values that every round trip is made in.
var configs = map[string]*typed.Config{
	"plain":          nil,
	"gzip":           {Compressor: typed.Gzip(), CompressFromBytes: -1},
	"flate":          {Compressor: typed.Flate(), CompressFromBytes: -1, FlagMask: 3 << 8},
	"gzip when long": {Compressor: typed.Gzip()},
}

// there stores values in every way there is, and gets each in every way there is.
func there[T any](t *testing.T, c *client.Client, name string, codec typed.Codec[T], values ...T) {
	for how, cfg := range configs {
		t.Run(name+" "+how, func(t *testing.T) {
			ctx := patient(t)
			cache := cacheOf(t, c, codec, cfg)
			var keys []string
			for i, v := range values {
				key := fmt.Sprintf("%s:%s:%d", strings.ReplaceAll(name, " ", "_"), strings.ReplaceAll(how, " ", "_"), i)
				keys = append(keys, key)
				require.NoError(t, cache.Set(ctx, typed.Item[T]{Key: key, Value: v, Flags: 5}))

				it, err := cache.Get(ctx, key)
				require.NoError(t, err)
				require.NotZero(t, it.CAS)
				require.Equal(t, typed.Item[T]{Key: key, Value: v, Flags: 5, CAS: it.CAS}, it)
				touched, err := cache.GetAndTouch(ctx, key, time.Hour)
				require.NoError(t, err)
				require.Equal(t, it, touched)

				encoded, err := cache.Encode(typed.Item[T]{Key: key, Value: v, Flags: 5, TTL: time.Minute})
				require.NoError(t, err)
				stored, err := c.Get(ctx, key)
				require.NoError(t, err)
				require.Equal(t, stored.Flags, encoded.Flags)
				require.Equal(t, time.Minute, encoded.TTL)
				// Encoding again may give other bytes, as of a map: it is decoded that counts.
				for _, raw := range []client.Item{encoded, stored} {
					back, err := cache.Decode(raw)
					require.NoError(t, err)
					clear(raw.Value)
					require.Equal(t, v, back.Value)
				}
			}
			got := map[string]T{}
			for it, err := range cache.GetMulti(ctx, append([]string{"none"}, keys...)) {
				require.NoError(t, err)
				got[it.Key] = it.Value
			}
			require.Len(t, got, len(keys))
			for i, v := range values {
				require.Equal(t, v, got[keys[i]])
			}
			require.Zero(t, cache.Undecodable())
		})
	}
}

func TestRoundTrips(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		long := bytes.Repeat([]byte("0123456789abcdef\r\nEND\r\n"), 10000)
		there(t, c, "bytes", typed.Bytes(), []byte{}, []byte("a"), []byte("\x1f\x8b"), long)
		there(t, c, "string", typed.String(), "", "a", string(long), "\xff\xfe no UTF-8")
		there(t, c, "json", typed.JSON[user](), user{}, user{Name: "Ada"}, large())
		there(t, c, "json pointer", typed.JSON[*user](), nil, &user{}, ptr(large()))
		there(t, c, "json any", typed.JSON[any](), []any{nil, "text", 1.5, []any{"a", nil}, map[string]any{"<b>": true}}...)
		there(t, c, "json slice", typed.JSON[[]user](), nil, []user{}, []user{{Name: "a"}, {Name: "b"}})
		there(t, c, "json pointer receiver", typed.JSON[shout](), shout{"quiet"})
		there(t, c, "gob", typed.Gob[user](), user{}, user{Name: "Ada"}, large())
		there(t, c, "gob pointer", typed.Gob[*user](), &user{}, ptr(large()))
		there(t, c, "gob number", typed.Gob[int](), 0, -7)
		there(t, c, "binary", typed.Binary[time.Time](), time.Time{}.UTC(), time.Unix(1e9, 5).UTC())
		there(t, c, "text", typed.Text[netip.Addr](), netip.Addr{}, netip.MustParseAddr("2001:db8::1"))
		there(t, c, "text without append", typed.Text[small](), "x", "why")
		there(t, c, "big", typed.Text[big.Int](), *big.NewInt(1).Lsh(big.NewInt(1), 5000))
		there(t, c, "user's own", typed.Codec[string](reversed{}), "", "abc", string(long))
	})
}

// shout needs its pointer to encode itself.
type shout struct{ word string }

func (s *shout) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strings.ToUpper(s.word) + `"`), nil
}

func (s *shout) UnmarshalJSON(b []byte) error {
	s.word = strings.ToLower(string(b[1 : len(b)-1]))
	return nil
}

// small has MarshalText and not AppendText.
type small string

func (s small) MarshalText() ([]byte, error)     { return []byte(s), nil }
func (s *small) UnmarshalText(text []byte) error { *s = small(text); return nil }

// reversed is a codec that breaks the rules: what Append returns is not dst.
type reversed struct{}

func (reversed) Append(_ []byte, v string) ([]byte, error) {
	b := []byte(v)
	slices.Reverse(b)
	return b, nil
}

func (reversed) Decode(data []byte) (string, error) {
	b := bytes.Clone(data)
	slices.Reverse(b)
	return string(b), nil
}

// Bytes gives nil back as an empty value, and takes no memory of the caller's.
func TestBytesAreTheCallers(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		for how, cfg := range configs {
			cache := cacheOf(t, c, typed.Bytes(), cfg)
			require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: "nil"}))
			it, err := cache.Get(ctx, "nil")
			require.NoError(t, err)
			require.Equal(t, []byte{}, it.Value, how)

			mine := bytes.Repeat([]byte("mine"), 5000)
			require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: "k", Value: mine}))
			for range 10 { // others store and get in the meantime
				require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: "other", Value: bytes.Repeat([]byte("else"), 5000)}))
				got, err := cache.Get(ctx, "k")
				require.NoError(t, err)
				_, err = cache.Get(ctx, "other")
				require.NoError(t, err)
				require.True(t, bytes.Equal(bytes.Repeat([]byte("mine"), 5000), got.Value), how)
				require.True(t, bytes.Equal(bytes.Repeat([]byte("mine"), 5000), mine), how)
				clear(got.Value)
			}
		}
	})
}

// A codec that returns the value's own memory instead of dst breaks its promise, but
// nobody's values.
func TestCodecThatReturnsItsValue(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		cache := typed.Of(c, typed.Codec[[]byte](lazy{}))
		values := [][]byte{bytes.Repeat([]byte("a"), 5000), bytes.Repeat([]byte("b"), 4000), bytes.Repeat([]byte("c"), 3000)}
		texts := typed.Of(c, typed.String())
		for range 50 {
			for i, v := range values {
				require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: "k", Value: v}))
				require.NoError(t, texts.Set(ctx, typed.Item[string]{Key: "t", Value: strings.Repeat("z", 2000)}))
				require.Equal(t, bytes.Repeat([]byte{"abc"[i]}, 5000-1000*i), v)
			}
		}
	})
}

type lazy struct{}

func (lazy) Append(_, v []byte) ([]byte, error) { return v, nil }
func (lazy) Decode(b []byte) ([]byte, error)    { return bytes.Clone(b), nil }

// The conditional stores keep their conditions, and the other calls their results.
func TestCalls(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		cache := cacheOf(t, c, typed.JSON[user](), &typed.Config{Compressor: typed.Gzip()})
		require.Same(t, c, cache.Client())
		item := typed.Item[user]{Key: "u", Value: large()}
		_, err := cache.Get(ctx, "u")
		require.ErrorIs(t, err, client.ErrNotFound)
		_, err = cache.GetAndTouch(ctx, "u", time.Hour)
		require.ErrorIs(t, err, client.ErrNotFound)
		require.ErrorIs(t, cache.Replace(ctx, item), client.ErrNotStored)
		require.ErrorIs(t, cache.Touch(ctx, "u", time.Hour), client.ErrNotFound)
		require.ErrorIs(t, cache.Delete(ctx, "u"), client.ErrNotFound)
		item.CAS = 1
		require.ErrorIs(t, cache.CompareAndSwap(ctx, item), client.ErrNotFound)
		require.NoError(t, cache.Add(ctx, item))
		require.ErrorIs(t, cache.Add(ctx, item), client.ErrNotStored)
		require.NoError(t, cache.Replace(ctx, item))

		it, err := cache.Get(ctx, "u")
		require.NoError(t, err)
		it.Value.Age++
		require.NoError(t, cache.CompareAndSwap(ctx, it))
		require.ErrorIs(t, cache.CompareAndSwap(ctx, it), client.ErrConflict)
		it, err = cache.Get(ctx, "u")
		require.NoError(t, err)
		require.Equal(t, large().Age+1, it.Value.Age)

		require.NoError(t, cache.Touch(ctx, "u", time.Hour))
		require.NoError(t, cache.Delete(ctx, "u"))
		require.ErrorIs(t, cache.Delete(ctx, "u"), client.ErrNotFound)

		_, err = cache.Get(ctx, "no key")
		require.ErrorIs(t, err, client.ErrKey)
		require.ErrorIs(t, cache.Set(ctx, typed.Item[user]{Key: "u", TTL: -1}), client.ErrTTL)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err = cache.Get(gone, "u")
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, client.SafeToRetry(err))
		for _, err := range cache.GetMulti(gone, []string{"u"}) {
			require.ErrorIs(t, err, context.Canceled)
		}
		nobody := typed.Of(nil, typed.String())
		_, err = nobody.Get(ctx, "u")
		require.ErrorIs(t, err, client.ErrNilClient)
	})
}

// A place that was made for an item is a miss, for him who is to store it and for all
// others, with whichever codec, and the State tells them apart.
func TestVivified(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		vivified(t, typed.Of(c, typed.JSON[user]()), user{Name: "Ada"})
		vivified(t, typed.Of(c, typed.String()), "text")
		vivified(t, typed.Of(c, typed.Bytes()), []byte("bytes"))
		vivified(t, cacheOf(t, c, typed.Bytes(), &typed.Config{Compressor: typed.Gzip()}), []byte("bytes"))
	})
}

func vivified[T any](t *testing.T, cache *typed.Cache[T], v T) {
	ctx := patient(t)
	key := fmt.Sprintf("place:%p", cache)
	vivify := client.GetOptions{Vivify: time.Hour}
	place, err := cache.Get(ctx, key, vivify)
	require.ErrorIs(t, err, client.ErrNotFound)
	require.NotZero(t, place.CAS)
	require.Equal(t, typed.Item[T]{Key: key, State: client.Won, CAS: place.CAS}, place)
	for _, get := range []func() (typed.Item[T], error){
		func() (typed.Item[T], error) { return cache.Get(ctx, key, vivify) },
		func() (typed.Item[T], error) { return cache.Get(ctx, key) },
		func() (typed.Item[T], error) { return cache.GetAndTouch(ctx, key, time.Minute) },
	} {
		it, err := get()
		require.ErrorIs(t, err, client.ErrNotFound)
		require.Equal(t, typed.Item[T]{Key: key, State: client.Claimed, CAS: place.CAS}, it)
	}
	// Nor does a GetMulti find a value there that was never stored. Where an empty one
	// could have been, only options can tell.
	for it, err := range cache.GetMulti(ctx, []string{key}) {
		require.NoError(t, err)
		require.Empty(t, it.Value)
		require.NotEqual(t, reflect.Struct, reflect.TypeFor[T]().Kind())
	}
	require.Zero(t, cache.Undecodable())

	place.Value = v
	require.NoError(t, cache.CompareAndSwap(ctx, place))
	it, err := cache.Get(ctx, key, vivify)
	require.NoError(t, err)
	require.Equal(t, v, it.Value)
	require.Zero(t, it.State)

	// What is to be stored anew while it is still there has its value.
	require.NoError(t, cache.Set(ctx, typed.Item[T]{Key: key, Value: v, TTL: time.Minute}))
	for _, state := range []client.State{client.Won, client.Claimed} {
		it, err := cache.Get(ctx, key, client.GetOptions{Recache: time.Hour})
		require.NoError(t, err)
		require.Equal(t, v, it.Value)
		require.Equal(t, state, it.State)
	}
	_, err = cache.Get(ctx, key, vivify, vivify)
	require.ErrorIs(t, err, client.ErrArgument)
}

// A loop over a GetMulti can be left early, whichever way values are got.
func TestGetMultiLeft(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		left(t, ctx, typed.Of(c, typed.String()), "a")
		left(t, ctx, typed.Of(c, typed.Bytes()), []byte("a"))
	})
}

func left[T any](t *testing.T, ctx context.Context, cache *typed.Cache[T], v T) {
	keys := []string{"a", "b", "c"}
	for _, k := range keys {
		require.NoError(t, cache.Set(ctx, typed.Item[T]{Key: k, Value: v}))
	}
	n := 0
	for it, err := range cache.GetMulti(ctx, keys) {
		require.NoError(t, err)
		require.Equal(t, v, it.Value)
		n++
		break
	}
	require.Equal(t, 1, n)
}
