package compress

import (
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/memring/memring/client/typed"
)

// S2 compresses with s2, which is meant for speed. Values are S2 blocks; those of
// Snappy are read as well. There is no checksum: a damaged value may be found by the
// codec alone, or not at all.
func S2() typed.Compressor { return s2Compressor{} }

type s2Compressor struct{}

var _ typed.Compressor = s2Compressor{}

func (s2Compressor) ID() uint8 { return 4 }

func (s2Compressor) Append(dst, src []byte) ([]byte, error) {
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		return dst, s2.ErrTooLarge
	}
	begin := len(dst)
	dst = slices.Grow(dst, most)
	return dst[:begin+len(s2.Encode(dst[begin:begin+most], src))], nil
}

func (s2Compressor) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return dst, err
	}
	if n > limit {
		return dst, typed.ErrDecodedSize
	}
	begin := len(dst)
	dst = slices.Grow(dst, n)
	if _, err := s2.Decode(dst[begin:begin+n], src); err != nil {
		return dst[:begin], err
	}
	return dst[:begin+n], nil
}
