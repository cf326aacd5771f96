package typed

// Codec makes bytes of values and values of bytes. A Codec is used by many
// goroutines at once.
type Codec[T any] interface {
	// Append appends the encoding of v to dst and returns the extended slice, as
	// package strconv's functions do. It keeps neither, and what it returns refers to
	// nothing of v.
	Append(dst []byte, v T) ([]byte, error)

	// Decode makes a value of data. data is lent until Decode returns, and soon has
	// another value in it: what the value needs of it must be copied. It must not be
	// written to.
	Decode(data []byte) (T, error)
}

// Raw is a [Codec] whose values lie in memory just as they are stored: bytes,
// flatbuffers and the like. A cache spares these the copying if it can, with View in
// place of Append and Adopt in place of Decode.
type Raw[T any] interface {
	Codec[T]

	// View returns the encoding of v where it is. It is only read, and not after the
	// call that stores it has returned.
	View(v T) []byte

	// Adopt is Decode, but data becomes the value's own.
	Adopt(data []byte) (T, error)
}

// Bytes is the codec of values that are bytes already. A value that was got is the
// caller's own, and not nil. It is a [Raw]: neither what is stored nor what is got is
// copied by it.
func Bytes() Codec[[]byte] { return bytesCodec{} }

type bytesCodec struct{}

var _ Raw[[]byte] = bytesCodec{}

func (bytesCodec) Append(dst, v []byte) ([]byte, error) { return append(dst, v...), nil }
func (bytesCodec) Decode(data []byte) ([]byte, error)   { return append([]byte{}, data...), nil }
func (bytesCodec) View(v []byte) []byte                 { return v }

func (bytesCodec) Adopt(data []byte) ([]byte, error) {
	if data == nil {
		return []byte{}, nil // as Decode does
	}
	return data, nil
}

// String is the codec of strings, stored as their bytes, whatever those are.
func String() Codec[string] { return stringCodec{} }

type stringCodec struct{}

func (stringCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }
func (stringCodec) Decode(data []byte) (string, error)          { return string(data), nil }
