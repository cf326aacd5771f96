package typed

import "sync"

// buffer is the memory of one call: what the codec has written or is to read, and
// what the compressor has made of it.
type buffer struct {
	plain  []byte
	packed []byte
}

// Both slices of a buffer together hold at most twice this much while nobody uses
// it. A value that needs more takes fresh memory each time: it is four times what a
// memcached stores by default.
const keptMost = 4 << 20

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func takeBuffer() *buffer { return buffers.Get().(*buffer) }

// put gives a buffer back that nobody refers to.
func (b *buffer) put() { buffers.Put(b) }

// kept is the memory to keep of a slice that was handed out to be appended to, and
// came back as out. What is not the slice's own memory is not kept, whoever made it: a
// codec that breaks its promise may have returned memory which the value refers to,
// and the next value would be written over it. It only shows how much is needed.
func kept(own, out []byte) []byte {
	switch {
	case cap(out) > keptMost:
		return own
	case cap(own) > 0 && cap(out) > 0 && &own[:1][0] == &out[:1][0]:
		return own
	case cap(own) < len(out):
		return make([]byte, 0, len(out)+len(out)/4) // the next value may be a little longer
	}
	return own
}
