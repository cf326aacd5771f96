package typed

import (
	"bytes"
	"encoding/json"
	"sync"
)

// JSON is the codec of encoding/json, for every T that it takes. The encoding is that
// of json.Marshal(&v), so that a T whose MarshalJSON has a pointer receiver needs no
// pointer. If T is a pointer, nil is stored as null, and null is got as nil.
//
// As with encoding/json, unknown fields are passed over and missing ones left zero,
// which is how programs of different versions can share a cache; what is left over
// behind the value is an error.
func JSON[T any]() Codec[T] { return jsonCodec[T]{} }

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(dst []byte, v T) ([]byte, error) {
	e := jsonEncoders.Get().(*jsonEncoder)
	e.out = dst
	if err := e.Encode(&v); err != nil {
		return dst, err // the encoder is not used again: it may remember errors
	}
	out := bytes.TrimSuffix(e.out, []byte("\n")) // json.Encoder ends every value with one
	e.out = nil
	jsonEncoders.Put(e)
	return out, nil
}

func (jsonCodec[T]) Decode(data []byte) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}

// jsonEncoder encodes into out. json.Marshal would do the same and copy the result
// to fresh memory.
type jsonEncoder struct {
	*json.Encoder
	out []byte
}

var jsonEncoders = sync.Pool{New: func() any {
	e := &jsonEncoder{}
	e.Encoder = json.NewEncoder(e)
	return e
}}

func (e *jsonEncoder) Write(p []byte) (int, error) {
	e.out = append(e.out, p...)
	return len(p), nil
}
