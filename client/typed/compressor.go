package typed

// Compressor makes values smaller. A Compressor is used by many goroutines at once.
type Compressor interface {
	// ID says in the flags which compressor has made a value: 1 to 15, or what
	// Config.FlagMask has room for. It must never change its meaning while there are
	// values on a server. [Gzip] is 1, [Flate] 2, and those of the module
	// github.com/memring/memring/compress are 3 and 4; from 8 on they are the users'.
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
