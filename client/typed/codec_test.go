package typed_test

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// Codecs append behind what is there, in the memory that they were given if it is
// enough, and take what is left over for an error where they know where a value ends.
func TestCodecs(t *testing.T) {
	appends(t, typed.Bytes(), []byte("b"))
	appends(t, typed.String(), "s")
	appends(t, typed.JSON[user](), user{Name: "Ada"})
	appends(t, typed.Gob[user](), user{Name: "Ada"})
	appends(t, typed.Binary[time.Time](), time.Unix(1, 0).UTC())
	appends(t, typed.Text[netip.Addr](), netip.MustParseAddr("::1"))
	appends(t, typed.Text[small](), "x")

	b, err := typed.Gob[int]().Append(nil, 7)
	require.NoError(t, err)
	_, err = typed.Gob[int]().Decode(append(b, 0))
	require.Error(t, err)
}

// What gob could not read again it does not store.
func TestGobNil(t *testing.T) {
	_, err := typed.Gob[*int]().Append(nil, nil)
	require.Error(t, err)
	_, err = typed.Gob[**int]().Append(nil, new(*int))
	require.Error(t, err)
	_, err = typed.Gob[any]().Append(nil, nil)
	require.Error(t, err)
	appends(t, typed.Gob[**int](), ptr(new(7)))
}

func appends[T any](t *testing.T, codec typed.Codec[T], v T) {
	t.Helper()
	room := append(make([]byte, 0, 1<<10), "before"...)
	b, err := codec.Append(room, v)
	require.NoError(t, err)
	require.Same(t, &room[0], &b[0])
	require.Equal(t, "before", string(b[:6]))
	back, err := codec.Decode(b[6:])
	require.NoError(t, err)
	require.Equal(t, v, back)
}

// counting is a Raw that counts what is asked of it.
type counting struct{ views, appends, adopts, decodes *int }

func newCounting() counting { return counting{new(int), new(int), new(int), new(int)} }

func (c counting) View(v []byte) []byte { *c.views++; return v }

func (c counting) Append(dst, v []byte) ([]byte, error) {
	*c.appends++
	return append(dst, v...), nil
}

func (c counting) Adopt(data []byte) ([]byte, error) { *c.adopts++; return data, nil }

func (c counting) Decode(data []byte) ([]byte, error) {
	*c.decodes++
	return bytes.Clone(data), nil
}

func (c counting) counts() [4]int { return [4]int{*c.views, *c.appends, *c.adopts, *c.decodes} }

// A Raw is never asked to append, and to copy only what was got in a lease because
// most values would have been compressed.
func TestRawIsSpared(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		long, short := bytes.Repeat([]byte("long "), 1000), []byte("short")
		gets := func(cfg *typed.Config, v []byte) [4]int {
			codec := newCounting()
			cache := cacheOf(t, c, typed.Codec[[]byte](codec), cfg)
			require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: "k", Value: v}))
			_, err := cache.Get(ctx, "k")
			require.NoError(t, err)
			_, err = cache.GetAndTouch(ctx, "k", time.Hour)
			require.NoError(t, err)
			for _, err := range cache.GetMulti(ctx, []string{"k"}) {
				require.NoError(t, err)
			}
			return codec.counts()
		}
		gz := &typed.Config{Compressor: typed.Gzip()}
		require.Equal(t, [4]int{1, 0, 3, 0}, gets(nil, long))
		require.Equal(t, [4]int{1, 0, 3, 0}, gets(gz, long))
		require.Equal(t, [4]int{1, 0, 1, 2}, gets(gz, short))
	})
}
