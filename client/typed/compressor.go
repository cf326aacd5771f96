package typed

import (
	"io"
	"math"
	"slices"
)

// Compressor makes values smaller. A Compressor is used by many goroutines at once.
type Compressor interface {
	// ID says in the flags which compressor has made a value: 1 to 15, or what
	// Config.FlagMask has room for. It must never change its meaning while there are
	// values on a server. [Gzip] is 1, [Flate] 2, and those of the module
	// client/typed/compress are 3 and 4; from 8 on they are the users'.
	ID() uint8

	// Append appends src, compressed, to dst and returns the extended slice. It keeps
	// neither.
	Append(dst, src []byte) ([]byte, error)

	// Decode appends what src was before Append to dst and returns the extended
	// slice. It keeps neither. If that is more than limit bytes, it returns an error
	// that matches [ErrDecodedSize], and before it has taken much more memory than
	// that; other errors mean that src is corrupt. src may be any bytes.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

// AppendFrom appends what r has, up to its end, to dst and returns the extended slice;
// if that is more than limit bytes, it returns [ErrDecodedSize], and has read one byte
// more. It is a help to write a Compressor's Decode.
func AppendFrom(dst []byte, r io.Reader, limit int) ([]byte, error) {
	begin := len(dst)
	limit = max(0, min(limit, math.MaxInt-begin-1))
	for {
		got := len(dst) - begin
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, min(max(512, got), limit-got+1))
		}
		// One byte beyond the limit shows that there is more, however much memory is there.
		n, err := r.Read(dst[len(dst):min(cap(dst), begin+limit+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-begin > limit:
			return dst, ErrDecodedSize
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
