package typed_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// What is stored is seen by a client that knows of no types: the flags have the mark
// just where the value is compressed, and a gzip file is one.
func TestOnTheWire(t *testing.T) {
	long := strings.Repeat("compressible ", 1000)
	noise := make([]byte, 5000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, c := range []struct {
		what  string
		cfg   typed.Config
		value string
		mark  uint32
	}{
		{"no compressor", typed.Config{}, long, 0},
		{"only a reader", typed.Config{Readers: []typed.Compressor{typed.Gzip()}}, long, 0},
		{"gzip", typed.Config{Compressor: typed.Gzip()}, long, 1 << 27},
		{"flate", typed.Config{Compressor: typed.Flate()}, long, 2 << 27},
		{"another mask", typed.Config{Compressor: typed.Flate(), FlagMask: 0x30}, long, 0x20},
		{"one bit", typed.Config{Compressor: typed.Gzip(), FlagMask: 1 << 31}, long, 1 << 31},
		{"below the threshold", typed.Config{Compressor: typed.Gzip()}, long[:typed.DefaultCompressFromBytes-1], 0},
		{"at the threshold", typed.Config{Compressor: typed.Gzip()}, long[:typed.DefaultCompressFromBytes], 1 << 27},
		{"below an own threshold", typed.Config{Compressor: typed.Gzip(), CompressFromBytes: 100}, long[:99], 0},
		{"at an own threshold", typed.Config{Compressor: typed.Gzip(), CompressFromBytes: 100}, long[:100], 1 << 27},
		{"not smaller", typed.Config{Compressor: typed.Gzip()}, string(noise), 0},
		{"not smaller as it is short", typed.Config{Compressor: typed.Gzip(), CompressFromBytes: -1}, "a", 0},
		{"empty", typed.Config{Compressor: typed.Gzip(), CompressFromBytes: -1}, "", 0},
		{"longer than it could be read", typed.Config{Compressor: typed.Gzip(), MaxDecodedBytes: len(long) - 1}, long, 0},
		{"just as long", typed.Config{Compressor: typed.Gzip(), MaxDecodedBytes: len(long)}, long, 1 << 27},
	} {
		t.Run(c.what, func(t *testing.T) {
			plain := dial(t, &client.Config{})
			ctx := patient(t)
			cache := cacheOf(t, plain, typed.String(), &c.cfg)
			require.NoError(t, cache.Set(ctx, typed.Item[string]{Key: "k", Value: c.value, Flags: 7}))
			it, err := plain.Get(ctx, "k")
			require.NoError(t, err)
			require.Equal(t, 7|c.mark, it.Flags)
			if c.mark == 0 {
				require.True(t, c.value == string(it.Value))
			} else {
				require.Less(t, len(it.Value), len(c.value))
				require.True(t, c.value == unpacked(t, c.cfg.Compressor.ID(), it.Value))
			}
			back, err := cache.Get(ctx, "k")
			require.NoError(t, err)
			require.True(t, c.value == back.Value)
			require.EqualValues(t, 7, back.Flags)
		})
	}
}

// unpacked is what another program makes of a value.
func unpacked(t *testing.T, id uint8, value []byte) string {
	t.Helper()
	r := io.Reader(flate.NewReader(bytes.NewReader(value)))
	if id == 1 {
		var err error
		r, err = gzip.NewReader(bytes.NewReader(value))
		require.NoError(t, err)
	}
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(b)
}

// Programs of all stages of a roll-out share a fleet that is warm.
func TestRollOut(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		both := []typed.Compressor{typed.Gzip(), typed.Flate()}
		before := typed.Of(c, typed.JSON[user]())
		prepared := cacheOf(t, c, typed.JSON[user](), &typed.Config{Readers: both})
		gzips := cacheOf(t, c, typed.JSON[user](), &typed.Config{Compressor: typed.Gzip(), Readers: both})
		flates := cacheOf(t, c, typed.JSON[user](), &typed.Config{Compressor: typed.Flate(), Readers: both[:1]})

		item := typed.Item[user]{Key: "u", Value: large()}
		for _, writer := range []*typed.Cache[user]{before, prepared, gzips, flates} {
			require.NoError(t, writer.Set(ctx, item))
			for _, reader := range []*typed.Cache[user]{prepared, gzips, flates} {
				it, err := reader.Get(ctx, "u")
				require.NoError(t, err)
				require.Equal(t, large(), it.Value)
			}
		}
		_, err := before.Get(ctx, "u")
		require.ErrorIs(t, err, typed.ErrUnknownCompression, "this is why readers come first")
	})
}

// Levels change the size, not who can read it.
func TestLevels(t *testing.T) {
	long := []byte(strings.Repeat("compressible ", 100))
	for _, make := range []func(int) (typed.Compressor, error){typed.GzipLevel, typed.FlateLevel} {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			z, err := make(level)
			require.NoError(t, err)
			for range 3 {
				packed, err := z.Append([]byte("before"), long)
				require.NoError(t, err)
				require.Equal(t, "before", string(packed[:6]))
				back, err := z.Decode([]byte("here"), packed[6:], len(long))
				require.NoError(t, err)
				require.Equal(t, "here"+string(long), string(back))
			}
		}
		for _, level := range []int{flate.HuffmanOnly - 1, flate.BestCompression + 1} {
			_, err := make(level)
			require.ErrorIs(t, err, client.ErrConfig)
		}
	}
}

// AppendFrom reads a byte more than the limit to know, however much room there is.
func TestAppendFrom(t *testing.T) {
	for _, room := range []int{0, 3, 100, 10000} {
		dst := append(make([]byte, 0, 4+room), "here"...)
		r := strings.NewReader(strings.Repeat("a", 2000))
		out, err := typed.AppendFrom(dst, r, 2000)
		require.NoError(t, err)
		require.Equal(t, "here"+strings.Repeat("a", 2000), string(out))

		r = strings.NewReader(strings.Repeat("a", 2000))
		_, err = typed.AppendFrom(dst, r, 1000)
		require.ErrorIs(t, err, typed.ErrDecodedSize)
		require.Equal(t, 999, r.Len())
	}
	_, err := typed.AppendFrom(nil, strings.NewReader("a"), -1)
	require.ErrorIs(t, err, typed.ErrDecodedSize)
	_, err = typed.AppendFrom([]byte("a"), iotest.ErrReader(io.ErrClosedPipe), math.MaxInt)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// An empty value that another program has compressed is no nil.
func TestEmptyOfOthers(t *testing.T) {
	cache := cacheOf(t, nil, typed.Bytes(), &typed.Config{Readers: []typed.Compressor{numbered(9), typed.Flate()}})
	empty, err := typed.Flate().Append(nil, nil)
	require.NoError(t, err)
	for _, it := range []client.Item{{Flags: 9 << 27}, {Flags: 2 << 27, Value: empty}} {
		back, err := cache.Decode(it)
		require.NoError(t, err)
		require.Equal(t, []byte{}, back.Value)
	}
}

func TestConfigRefused(t *testing.T) {
	for what, cfg := range map[string]typed.Config{
		"bits that are not adjacent": {FlagMask: 0x5},
		"an ID of zero":              {Compressor: numbered(0)},
		"an ID beyond the mask":      {Compressor: numbered(16)},
		"an ID beyond another mask":  {Compressor: typed.Flate(), FlagMask: 1},
		"a reader's ID beyond":       {Readers: []typed.Compressor{numbered(16)}},
		"a nil reader":               {Readers: []typed.Compressor{nil}},
		"two readers of one ID":      {Readers: []typed.Compressor{typed.Gzip(), typed.Gzip()}},
	} {
		_, err := typed.New(nil, typed.String(), &cfg)
		require.ErrorIs(t, err, client.ErrConfig, what)
	}
	_, err := typed.New[string](nil, nil, nil)
	require.ErrorIs(t, err, client.ErrConfig)
	require.PanicsWithValue(t, "memring: typed.Of: invalid configuration: there is no codec", func() { typed.Of[string](nil, nil) })
	_, err = typed.New(nil, typed.String(), &typed.Config{Compressor: numbered(255), FlagMask: 0xff00})
	require.NoError(t, err)
}

// numbered is a compressor that does nothing but be numbered.
type numbered uint8

func (n numbered) ID() uint8                                   { return uint8(n) }
func (numbered) Append(dst, src []byte) ([]byte, error)        { return append(dst, src...), nil }
func (numbered) Decode(dst, src []byte, _ int) ([]byte, error) { return append(dst, src...), nil }
