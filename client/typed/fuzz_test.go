package typed_test

import (
	"errors"
	"math/big"
	"net/url"
	"testing"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// fuzzLimit is small, so that the fuzzer finds what exceeds it.
const fuzzLimit = 4 << 10

// FuzzDecode: of any bytes and flags become a value or a DecodeError, and no codec
// sees more than the limit of what was compressed.
func FuzzDecode(f *testing.F) {
	cfg := typed.Config{Readers: []typed.Compressor{typed.Gzip(), typed.Flate()}, MaxDecodedBytes: fuzzLimit}
	decoders := []func(client.Item) error{
		decoder(f, typed.JSON[user](), cfg), decoder(f, typed.JSON[any](), cfg), decoder(f, typed.Gob[user](), cfg),
		decoder(f, typed.Bytes(), cfg), decoder(f, typed.String(), cfg),
		decoder(f, typed.Binary[url.URL](), cfg), decoder(f, typed.Text[big.Int](), cfg),
		decoder(f, typed.Codec[int](lengths{}), cfg),
	}
	seeds := func(z typed.Compressor) {
		packing := cfg
		packing.Compressor, packing.CompressFromBytes = z, -1
		for _, add := range []func() (client.Item, error){
			encoder(f, typed.JSON[user](), packing, large()), encoder(f, typed.Gob[user](), packing, user{Name: "Ada", Tags: []string{"a"}}),
			encoder(f, typed.Bytes(), packing, make([]byte, fuzzLimit)), encoder(f, typed.String(), packing, ""),
		} {
			it, err := add()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(it.Value, it.Flags)
		}
		bomb, err := z.Append(nil, make([]byte, 1<<20))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bomb, uint32(z.ID())<<27)
	}
	seeds(typed.Gzip())
	seeds(typed.Flate())
	f.Fuzz(func(t *testing.T, value []byte, flags uint32) {
		for _, decode := range decoders {
			err := decode(client.Item{Key: "k", Value: value, Flags: flags})
			if _, ok := errors.AsType[*typed.DecodeError](err); err != nil && !ok {
				t.Fatalf("%T %v", err, err)
			}
			if errors.Is(err, errLong) && flags&typed.DefaultFlagMask != 0 {
				t.Fatal(errLong)
			}
		}
	})
}

func decoder[T any](tb testing.TB, codec typed.Codec[T], cfg typed.Config) func(client.Item) error {
	cache := cacheOf(tb, nil, codec, &cfg)
	return func(it client.Item) error { _, err := cache.Decode(it); return err }
}

func encoder[T any](tb testing.TB, codec typed.Codec[T], cfg typed.Config, v T) func() (client.Item, error) {
	cache := cacheOf(tb, nil, codec, &cfg)
	return func() (client.Item, error) { return cache.Encode(typed.Item[T]{Value: v}) }
}

// lengths is a codec that looks at the length alone.
type lengths struct{}

var errLong = errors.New("decoded beyond the limit")

func (lengths) Append(dst []byte, v int) ([]byte, error) { return append(dst, make([]byte, v)...), nil }
func (lengths) Decode(data []byte) (int, error) {
	if len(data) > fuzzLimit {
		return 0, errLong
	}
	return len(data), nil
}

// FuzzCompressors: what was compressed comes back, up to the limit and not beyond.
func FuzzCompressors(f *testing.F) {
	f.Add([]byte(nil), 0)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 40)
	f.Add(make([]byte, 5000), 5000)
	all := []typed.Compressor{typed.Gzip(), typed.Flate()}
	f.Fuzz(func(t *testing.T, value []byte, limit int) {
		for _, z := range all {
			packed, err := z.Append(nil, value)
			if err != nil {
				t.Fatal(err)
			}
			limit = max(0, min(limit, 1<<20))
			back, err := z.Decode(nil, packed, limit)
			if len(value) > limit {
				if !errors.Is(err, typed.ErrDecodedSize) {
					t.Fatalf("%d bytes with a limit of %d: %v", len(value), limit, err)
				}
				continue
			}
			if err != nil || string(back) != string(value) {
				t.Fatalf("%d bytes became %d: %v", len(value), len(back), err)
			}
		}
	})
}
