package compress

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// zstdMost is the most that a block of zstd can become (RFC 8878, 3.1.1.2.4), and
// zstdLeast what it takes at least: three bytes of header and one to be repeated.
const (
	zstdMost  = 128 << 10
	zstdLeast = 4
)

// maxWindow is the largest window that is read of a value which does not say its
// size: what RFC 8878, 3.1.1.1.2, wants of every decoder, and what the program zstd
// needs up to its level 19. A frame asks for that memory before it has anything to
// show for it.
const maxWindow = 8 << 20

var errNoFrame = errors.New("no frame")

// Zstd compresses with zstd at its fastest level. What it reads may have been made by
// any program, at levels up to 19, and be several frames.
//
// As many goroutines as GOMAXPROCS compress at one time, and as many decompress; the
// others wait.
func Zstd() typed.Compressor { return newZstandard(zstd.SpeedFastest) }

// ZstdLevel is [Zstd] at a level. Values can be read whatever the level.
func ZstdLevel(level zstd.EncoderLevel) (typed.Compressor, error) {
	if level < zstd.SpeedFastest || level > zstd.SpeedBestCompression {
		return nil, fmt.Errorf("%w: zstd has the levels %d to %d, and not %d", client.ErrConfig, zstd.SpeedFastest, zstd.SpeedBestCompression, level)
	}
	return newZstandard(level), nil
}

// zstandard makes its encoder and its decoders when they are first needed: who only
// reads needs no encoder, which is the largest.
type zstandard struct {
	encoder func() (*zstd.Encoder, error)
	decoder func() (*zstd.Decoder, error) // of whole values, into memory that is large enough
	streams sync.Pool                     // of *streamer
}

var _ typed.Compressor = (*zstandard)(nil)

func newZstandard(level zstd.EncoderLevel) *zstandard {
	return &zstandard{
		encoder: sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithZeroFrames(true))
		}),
		decoder: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
		}),
	}
}

func (*zstandard) ID() uint8 { return 3 }

func (c *zstandard) Append(dst, src []byte) ([]byte, error) {
	e, err := c.encoder()
	if err != nil {
		return dst, err
	}
	return e.EncodeAll(src, dst), nil
}

func (c *zstandard) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return dst, errNoFrame // which to the decoder are frames enough
	}
	var first zstd.Header
	if err := first.Decode(src); err != nil {
		return dst, err
	}
	if !first.HasFCS {
		return c.stream(dst, src, limit)
	}
	if first.FrameContentSize > uint64(limit) {
		return dst, typed.ErrDecodedSize
	}
	d, err := c.decoder()
	if err != nil {
		return dst, err
	}
	// As much as the first frame says, as far as that is possible. Mostly there is no
	// other.
	room := int(min(first.FrameContentSize, uint64(len(src)/zstdLeast+1)*zstdMost))
	dst = slices.Grow(dst, room)
	if out, err := d.DecodeAll(src, dst[:len(dst):len(dst)+room]); err == nil {
		return out, nil
	}
	// There are more frames, or it is corrupt: the error does not always tell which.
	return c.stream(dst, src, limit)
}

// stream decodes what does not say how large it is going to be.
func (c *zstandard) stream(dst, src []byte, limit int) ([]byte, error) {
	s, ok := c.streams.Get().(*streamer)
	if !ok {
		var err error
		if s, err = newStreamer(); err != nil {
			return dst, err
		}
	}
	s.src.Reset(src)
	err := s.z.Reset(&s.src)
	if err == nil {
		dst, err = typed.AppendFrom(dst, s.z, limit)
	}
	s.src.Reset(nil)
	if e := s.z.Reset(nil); e == nil { // else it is of no more use
		c.streams.Put(s)
	}
	return dst, err
}

// streamer is a decoder of streams, which with a concurrency of one has no goroutines.
type streamer struct {
	src bytes.Reader
	z   *zstd.Decoder
}

func newStreamer() (*streamer, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	return &streamer{z: z}, err
}
