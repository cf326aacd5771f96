package typed

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/memring/memring/client"
)

// The standard library's compressors, as marked in the flags.
const (
	idGzip  = 1
	idFlate = 2
)

// deflateMost is how many bytes deflate can make of one, at most: zlib's
// documentation ("Maximum Compression Factor") has 1032:1.
const deflateMost = 1032

var errBehind = errors.New("bytes behind the end")

// Gzip compresses with compress/gzip at its fastest level, gzip.BestSpeed: 64 KiB of
// JSON became an eighth smaller at the best one, for several times the CPU time. A
// compressed value is a gzip file, for whatever program to read, and has a checksum.
//
// Each processor that compresses keeps about 1 MiB for it.
func Gzip() Compressor { return &gzipper{level: gzip.BestSpeed} }

// GzipLevel is [Gzip] at a level of compress/gzip. Values can be read whatever the
// level.
func GzipLevel(level int) (Compressor, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return &gzipper{level: level}, nil
}

// Flate is [Gzip] with compress/flate: 18 bytes less, and no checksum, so that a
// damaged value may be found by the codec alone, or not at all.
func Flate() Compressor { return &flater{level: flate.BestSpeed} }

// FlateLevel is [Flate] at a level of compress/flate.
func FlateLevel(level int) (Compressor, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return &flater{level: level}, nil
}

func checkLevel(level int) error {
	if level < flate.HuffmanOnly || level > flate.BestCompression {
		return fmt.Errorf("%w: compression level %d is not in %d to %d", client.ErrConfig, level, flate.HuffmanOnly, flate.BestCompression)
	}
	return nil
}

type gzipper struct {
	level            int
	writers, readers sync.Pool
}

func (*gzipper) ID() uint8 { return idGzip }

func (g *gzipper) Append(dst, src []byte) ([]byte, error) {
	w, ok := g.writers.Get().(*gzip.Writer)
	if !ok {
		var err error
		if w, err = gzip.NewWriterLevel(nil, g.level); err != nil {
			return dst, err
		}
	}
	out, err := deflate(w, dst, src)
	g.writers.Put(w)
	return out, err
}

type gunzipper struct {
	src bytes.Reader
	gzip.Reader
}

func (g *gzipper) Decode(dst, src []byte, limit int) ([]byte, error) {
	r, ok := g.readers.Get().(*gunzipper)
	if !ok {
		r = new(gunzipper)
	}
	r.src.Reset(src)
	out, err := dst, r.Reset(&r.src)
	if err == nil {
		r.Multistream(false)
		// The last four bytes are the size (RFC 1952, ISIZE), if they are to be trusted.
		size := int64(binary.LittleEndian.Uint32(src[len(src)-4:])) // a header is longer than that
		dst = slices.Grow(dst, int(min(size, int64(limit), int64(len(src))*deflateMost))+1)
		out, err = inflate(dst, &r.Reader, &r.src, limit)
	}
	r.src.Reset(nil)
	g.readers.Put(r)
	return out, err
}

type flater struct {
	level            int
	writers, readers sync.Pool
}

func (*flater) ID() uint8 { return idFlate }

func (f *flater) Append(dst, src []byte) ([]byte, error) {
	w, ok := f.writers.Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(nil, f.level); err != nil {
			return dst, err
		}
	}
	out, err := deflate(w, dst, src)
	f.writers.Put(w)
	return out, err
}

type inflater struct {
	src bytes.Reader
	r   io.ReadCloser
}

func (f *flater) Decode(dst, src []byte, limit int) ([]byte, error) {
	i, ok := f.readers.Get().(*inflater)
	if !ok {
		i = new(inflater)
		i.r = flate.NewReader(&i.src)
	}
	i.src.Reset(src)
	out, err := dst, i.r.(flate.Resetter).Reset(&i.src, nil)
	if err == nil {
		out, err = inflate(dst, i.r, &i.src, limit)
	}
	i.src.Reset(nil)
	f.readers.Put(i)
	return out, err
}

// deflate writes src to dst by way of w.
func deflate(w interface {
	io.WriteCloser
	Reset(io.Writer)
}, dst, src []byte) ([]byte, error) {
	out := appenders.Get().(*appender)
	*out = dst
	w.Reset(out)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	dst, *out = *out, nil
	w.Reset(nil) // which must not keep the memory alive
	appenders.Put(out)
	return dst, err
}

var appenders = sync.Pool{New: func() any { return new(appender) }}

// inflate appends what r has to dst. r reads src, and is to read all of it.
func inflate(dst []byte, r io.Reader, src *bytes.Reader, limit int) ([]byte, error) {
	dst, err := AppendFrom(dst, r, limit)
	if err == nil && src.Len() > 0 {
		err = errBehind
	}
	return dst, err
}
