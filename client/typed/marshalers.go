package typed

import "encoding"

// Binary is the codec of types that encode themselves, with MarshalBinary and
// UnmarshalBinary, such as time.Time and url.URL. If they have AppendBinary as well,
// that is used. P is always *T and need not be given:
//
//	typed.Binary[time.Time]()
func Binary[T any, P interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}]() Codec[T] {
	return binaryCodec[T, P]{}
}

type binaryCodec[T any, P interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}] struct{}

func (binaryCodec[T, P]) Append(dst []byte, v T) ([]byte, error) {
	p := P(&v)
	if a, ok := any(p).(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst)
	}
	b, err := p.MarshalBinary()
	return append(dst, b...), err
}

func (binaryCodec[T, P]) Decode(data []byte) (v T, err error) {
	err = P(&v).UnmarshalBinary(data)
	return v, err
}

// Text is [Binary] for types with MarshalText and UnmarshalText, such as big.Int and
// netip.Addr.
func Text[T any, P interface {
	*T
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}]() Codec[T] {
	return textCodec[T, P]{}
}

type textCodec[T any, P interface {
	*T
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}] struct{}

func (textCodec[T, P]) Append(dst []byte, v T) ([]byte, error) {
	p := P(&v)
	if a, ok := any(p).(encoding.TextAppender); ok {
		return a.AppendText(dst)
	}
	b, err := p.MarshalText()
	return append(dst, b...), err
}

func (textCodec[T, P]) Decode(data []byte) (v T, err error) {
	err = P(&v).UnmarshalText(data)
	return v, err
}
