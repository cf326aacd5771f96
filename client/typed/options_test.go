package typed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// Options reach the server, and what it says to them the caller, whichever way values
// are got.
func TestOptions(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		withOptions(t, typed.Of(c, typed.JSON[user]()), user{Name: "Ada"})
		withOptions(t, typed.Of(c, typed.Bytes()), []byte("bytes"))
		withOptions(t, cacheOf(t, c, typed.Bytes(), &typed.Config{Compressor: typed.Gzip(), CompressFromBytes: -1}), make([]byte, 1000))
	})
}

func withOptions[T any](t *testing.T, cache *typed.Cache[T], v T) {
	ctx := patient(t)
	key := fmt.Sprintf("options:%p", cache)
	item := typed.Item[T]{Key: key, Value: v, TTL: time.Hour, Flags: 5}
	var cas uint64
	require.NoError(t, cache.Add(ctx, item, client.StoreOptions{StoredCAS: &cas}))
	require.NotZero(t, cas)
	require.ErrorIs(t, cache.Set(ctx, item, client.StoreOptions{IfCAS: cas + 1}), client.ErrConflict)
	require.ErrorIs(t, cache.Replace(ctx, item, client.StoreOptions{IfCAS: cas + 1}), client.ErrConflict)
	require.NoError(t, cache.Replace(ctx, item, client.StoreOptions{IfCAS: cas, StoredCAS: &cas}))
	item.CAS = cas
	require.NoError(t, cache.CompareAndSwap(ctx, item, client.StoreOptions{StoredCAS: &cas}))

	it, err := cache.Get(ctx, key, client.GetOptions{Info: true, UnlessCAS: cas + 1})
	require.NoError(t, err)
	require.NotNil(t, it.Info)
	info := it.Info
	it.Info = nil
	require.Equal(t, typed.Item[T]{Key: key, Value: v, Flags: 5, CAS: cas}, it)
	require.Greater(t, info.TTL, 59*time.Minute)
	it, err = cache.Get(ctx, key, client.GetOptions{UnlessCAS: cas})
	require.ErrorIs(t, err, client.ErrNotModified)
	require.Equal(t, typed.Item[T]{Key: key, Flags: 5, CAS: cas}, it)

	require.ErrorIs(t, cache.Delete(ctx, key, client.DeleteOptions{IfCAS: cas + 1}), client.ErrConflict)
	require.NoError(t, cache.Delete(ctx, key, client.DeleteOptions{IfCAS: cas, Invalidate: true}))
	place, seen := key+":place", 0
	for it, err := range cache.GetMulti(ctx, []string{key, place}, client.GetOptions{Vivify: time.Hour}) {
		seen++
		if it.Key == place {
			require.ErrorIs(t, err, client.ErrNotFound)
			require.Equal(t, client.Won, it.State)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, v, it.Value)
		require.Equal(t, client.Won|client.Stale, it.State)
	}
	require.Equal(t, 2, seen)
}
