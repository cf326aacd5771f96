package typed_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// picky is the codec of texts that are not "bad".
type picky struct{ typed.Codec[string] }

var errBad = errors.New("bad")

func (p picky) Append(dst []byte, v string) ([]byte, error) {
	if v == "bad" {
		return dst, errBad
	}
	return p.Codec.Append(dst, v)
}

// Each item of a batch has its own error, from the codec, the client or the server,
// and the others are stored as they are.
func TestSetMulti(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		cache := cacheOf(t, c, picky{typed.String()}, &typed.Config{Compressor: typed.Gzip(), CompressFromBytes: -1})
		var items []typed.Item[string]
		want := map[string]string{}
		for i := range 100 {
			it := typed.Item[string]{Key: fmt.Sprint(i), Value: fmt.Sprintf("%0*d", 10*i+1, i), TTL: time.Hour}
			items = append(items, it)
			want[it.Key] = it.Value
		}
		require.NoError(t, cache.SetMulti(ctx, items))
		require.Equal(t, want, texts(t, cache, items))

		for i := range items {
			items[i].Value += "!"
			want[items[i].Key] = items[i].Value
		}
		refused := func(i int, it typed.Item[string]) {
			want[items[i].Key] = items[i].Value[:len(items[i].Value)-1] // what was there
			items[i] = it
		}
		refused(3, typed.Item[string]{Key: "3", Value: "bad"})
		refused(50, typed.Item[string]{Key: "a key", Value: "text"})
		refused(98, typed.Item[string]{Key: "98", Value: "text", Flags: typed.DefaultFlagMask})
		refused(99, typed.Item[string]{Key: "99", Value: "text", TTL: -1})
		err := cache.SetMulti(ctx, items)
		var batch *client.BatchError
		require.ErrorAs(t, err, &batch)
		require.Len(t, batch.Errs, len(items))
		for i, err := range batch.Errs {
			switch i {
			case 3:
				require.ErrorIs(t, err, errBad)
				require.ErrorIs(t, err, typed.ErrCodec)
			case 50:
				require.ErrorIs(t, err, client.ErrKey)
			case 98:
				require.ErrorIs(t, err, client.ErrArgument)
			case 99:
				require.ErrorIs(t, err, client.ErrTTL)
			default:
				require.NoError(t, err, i)
			}
		}
		items[50].Key = "50"
		require.Equal(t, want, texts(t, cache, items))
		require.ErrorIs(t, cache.SetMulti(ctx, items[3:4]), typed.ErrCodec) // with nothing left to send

		require.NoError(t, cache.DeleteMulti(ctx, []string{"1", "2"}))
		err = cache.DeleteMulti(ctx, []string{"1", "5"})
		require.NoError(t, client.Except(err, client.ErrNotFound))
		require.ErrorIs(t, err, client.ErrNotFound)
		delete(want, "1")
		delete(want, "2")
		delete(want, "5")
		require.Equal(t, want, texts(t, cache, items))

		// Nothing can be sent of a call that is wrong as a whole.
		cas := client.StoreOptions{IfCAS: 1}
		err = cache.SetMulti(ctx, items, cas)
		require.ErrorIs(t, err, client.ErrArgument)
		require.False(t, errors.As(err, &batch))
		require.ErrorIs(t, typed.Of(nil, typed.String()).SetMulti(ctx, items), client.ErrNilClient)
	})
}

// texts is what is stored under the items' keys.
func texts(t *testing.T, cache *typed.Cache[string], items []typed.Item[string]) map[string]string {
	t.Helper()
	var keys []string
	for _, it := range items {
		keys = append(keys, it.Key)
	}
	got := map[string]string{}
	for it, err := range cache.GetMulti(patient(t), keys) {
		require.NoError(t, err)
		got[it.Key] = it.Value
	}
	return got
}
