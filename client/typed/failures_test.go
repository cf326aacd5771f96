package typed_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

const secret = "hunter2"

// Whatever cannot be decoded is an error of its kind, which has the key and does not
// tell it, and the item stays.
func TestDecodeErrors(t *testing.T) {
	pack := func(z typed.Compressor, v string) []byte {
		b, err := z.Append(nil, []byte(v))
		require.NoError(t, err)
		return b
	}
	gz, fl := typed.Gzip(), typed.Flate()
	const isGzip, isFlate, isZstd, isPlain = 1 << 27, 2 << 27, 3 << 27, 9 << 27
	good := `{"name":"` + secret + `"}`
	bomb := pack(gz, strings.Repeat(" ", 1<<20))
	lying := pack(gz, good)
	copy(lying[len(lying)-4:], "\xff\xff\xff\x7f")
	for _, c := range []struct {
		what   string
		flags  uint32
		value  []byte
		reason error
	}{
		{"no JSON", 0, []byte(secret), typed.ErrCodec},
		{"JSON of another type", 0, []byte(`{"name":{"` + secret + `":1}}`), typed.ErrCodec},
		{"a number that does not fit", 0, []byte(`{"age":1e999}`), typed.ErrCodec},
		{"empty", 0, nil, typed.ErrCodec},
		{"something behind", 0, []byte(good + secret), typed.ErrCodec},
		{"no JSON, compressed", isGzip, pack(gz, secret), typed.ErrCodec},
		{"marked by mistake", isGzip, []byte(good), typed.ErrCorrupt},
		{"marked and empty", isGzip, nil, typed.ErrCorrupt},
		{"compressed and not marked", 0, pack(gz, good), typed.ErrCodec},
		{"marked as another's", isFlate, pack(gz, good), typed.ErrCorrupt},
		{"unknown mark", isZstd, pack(gz, good), typed.ErrUnknownCompression},
		{"unknown mark beyond all", 15 << 27, pack(gz, good), typed.ErrUnknownCompression},
		{"half a header", isGzip, pack(gz, good)[:7], typed.ErrCorrupt},
		{"half of it", isGzip, pack(gz, good)[:20], typed.ErrCorrupt},
		{"half of it, flate", isFlate, pack(fl, good)[:8], typed.ErrCorrupt},
		{"no trailer", isGzip, pack(gz, good)[:len(pack(gz, good))-8], typed.ErrCorrupt},
		{"wrong size in the trailer", isGzip, lying, typed.ErrCorrupt},
		{"twice", isGzip, append(pack(gz, good), pack(gz, good)...), typed.ErrCorrupt},
		{"twice, flate", isFlate, append(pack(fl, good), pack(fl, good)...), typed.ErrCorrupt},
		{"a bomb", isGzip, bomb, typed.ErrDecodedSize},
		{"a bomb, flate", isFlate, pack(fl, strings.Repeat(" ", 1<<20)), typed.ErrDecodedSize},
		{"one byte too much", isGzip, pack(gz, strings.Repeat(" ", 1001)), typed.ErrDecodedSize},
		{"as much as allowed", isGzip, pack(gz, strings.Repeat(" ", 1000)), typed.ErrCodec},
		{"too much by a compressor that does not look", isPlain, []byte(strings.Repeat(" ", 1001)), typed.ErrDecodedSize},
	} {
		t.Run(c.what, func(t *testing.T) {
			onEngines(t, func(t *testing.T, plain *client.Client) {
				ctx := patient(t)
				cfg := typed.Config{Readers: []typed.Compressor{gz, fl, numbered(9)}, MaxDecodedBytes: 1000}
				cache := cacheOf(t, plain, typed.JSON[user](), &cfg)
				require.NoError(t, cache.Set(ctx, typed.Item[user]{Key: "fine", Value: user{Name: "Ada"}}))
				require.NoError(t, plain.Set(ctx, client.Item{Key: secret, Value: c.value, Flags: c.flags | 3}))

				it, err := cache.Get(ctx, secret)
				fails := func(err error) (cas uint64) {
					t.Helper()
					require.ErrorIs(t, err, c.reason)
					var e *typed.DecodeError
					require.ErrorAs(t, err, &e)
					require.Equal(t, secret, e.Key)
					require.Equal(t, c.flags|3, e.Flags)
					require.NotZero(t, e.CAS)
					require.NotContains(t, err.Error(), secret)
					require.NotErrorIs(t, err, client.ErrNotFound)
					require.False(t, client.SafeToRetry(err))
					for _, reason := range []error{typed.ErrCodec, typed.ErrCorrupt, typed.ErrDecodedSize, typed.ErrUnknownCompression} {
						require.Equal(t, errors.Is(c.reason, reason), errors.Is(err, reason))
					}
					return e.CAS
				}
				fails(err)
				require.Zero(t, it)
				it, err = cache.GetAndTouch(ctx, secret, time.Hour)
				fails(err)
				require.Zero(t, it)

				var hits, misses int
				var cas uint64
				for it, err := range cache.GetMulti(ctx, []string{secret, "fine", "none"}) {
					if err == nil {
						require.Equal(t, "Ada", it.Value.Name)
						hits++
						continue
					}
					require.Zero(t, it)
					cas = fails(err)
					misses++
				}
				require.Equal(t, [2]int{1, 1}, [2]int{hits, misses})
				require.EqualValues(t, 3, cache.Undecodable())

				// The same as a miss.
				cfg.UndecodableIsMiss = true
				lenient := cacheOf(t, plain, typed.JSON[user](), &cfg)
				_, err = lenient.Get(ctx, secret)
				require.ErrorIs(t, err, client.ErrNotFound)
				require.ErrorIs(t, err, c.reason)
				for it, err := range lenient.GetMulti(ctx, []string{secret, "fine"}) {
					require.NoError(t, err)
					require.Equal(t, "fine", it.Key)
				}
				require.EqualValues(t, 2, lenient.Undecodable())

				// It is still there, and can be replaced.
				there, err := plain.Get(ctx, secret)
				require.NoError(t, err)
				require.Equal(t, string(c.value), string(there.Value))
				require.Equal(t, cas, there.CAS)
				require.NoError(t, cache.CompareAndSwap(ctx, typed.Item[user]{Key: secret, Value: user{Name: "new"}, CAS: cas}))
				_, err = cache.Get(ctx, secret)
				require.NoError(t, err)
			})
		})
	}
}

// The cause can be had: it is only not in the text.
func TestCause(t *testing.T) {
	cache := typed.Of(nil, typed.JSON[user]())
	_, err := cache.Decode(client.Item{Key: secret, Value: []byte(`{"age":"` + secret + `"}`)})
	var cause *json.UnmarshalTypeError
	require.ErrorAs(t, err, &cause)
	require.Equal(t, "memring: value cannot be decoded: refused by the codec (*json.UnmarshalTypeError)", err.Error())

	_, err = typed.Of(nil, typed.JSON[float64]()).Encode(typed.Item[float64]{Key: secret, Value: math.NaN()})
	var unsupported *json.UnsupportedValueError
	require.ErrorAs(t, err, &unsupported)
	require.Equal(t, "memring: value cannot be encoded: refused by the codec (*json.UnsupportedValueError)", err.Error())

	gz, err := typed.New(nil, typed.String(), &typed.Config{Readers: []typed.Compressor{typed.Gzip()}})
	require.NoError(t, err)
	_, err = gz.Decode(client.Item{Flags: 1 << 27, Value: []byte("\x1f\x8b")})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// What cannot be encoded is an error of its kind, and what was stored before stays.
func TestEncodeErrors(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		require.NoError(t, c.Set(ctx, client.Item{Key: secret, Value: []byte("1")}))
		floats := typed.Of(c, typed.JSON[float64]())
		refused(t, floats.Set(ctx, typed.Item[float64]{Key: secret, Value: math.Inf(1)}), typed.ErrCodec)
		refused(t, floats.Set(ctx, typed.Item[float64]{Key: secret, Flags: typed.DefaultFlagMask & 0x4fff_ffff}), client.ErrArgument)
		pointers := typed.Of(c, typed.Gob[*user]())
		refused(t, pointers.Set(ctx, typed.Item[*user]{Key: secret}), typed.ErrCodec)
		refused(t, typed.Of(c, typed.Gob[any]()).Set(ctx, typed.Item[any]{Key: secret}), typed.ErrCodec)
		funcs := typed.Of(c, typed.Gob[func()]())
		refused(t, funcs.Set(ctx, typed.Item[func()]{Key: secret, Value: func() {}}), typed.ErrCodec)
		broken := cacheOf(t, c, typed.String(), &typed.Config{Compressor: failing{}, CompressFromBytes: -1})
		refused(t, broken.Set(ctx, typed.Item[string]{Key: secret, Value: secret}), typed.ErrCompressor)
		_, err := broken.Encode(typed.Item[string]{Key: secret, Value: secret})
		refused(t, err, typed.ErrCompressor)

		it, err := floats.Get(ctx, secret)
		require.NoError(t, err)
		require.InDelta(t, 1, it.Value, 0)
	})
}

func refused(t *testing.T, err, reason error) {
	t.Helper()
	require.ErrorIs(t, err, reason)
	var e *typed.EncodeError
	require.ErrorAs(t, err, &e)
	require.Equal(t, secret, e.Key)
	require.NotContains(t, err.Error(), secret)
	require.False(t, client.SafeToRetry(err), "it would fail again")
}

// failing is a compressor that cannot.
type failing struct{ numbered }

func (failing) ID() uint8 { return 8 }
func (failing) Append(dst, src []byte) ([]byte, error) {
	return dst, errors.New("cannot compress " + string(src))
}
