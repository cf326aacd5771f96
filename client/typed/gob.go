package typed

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
)

// Gob is the codec of encoding/gob, for every T that it takes. Each value carries
// the description of its type, some hundred bytes, and costs the time to read it: gob
// is for Go types that JSON cannot express. A nil pointer is an error, as in gob, and so is
// a pointer to one.
//
// encoding/gob is not made for data of people who wish harm. Use it for caches that
// only programs you trust write to.
func Gob[T any]() Codec[T] { return gobCodec[T]{} }

type gobCodec[T any] struct{}

var errGobNil = errors.New("gob cannot encode nil")

func (gobCodec[T]) Append(dst []byte, v T) ([]byte, error) {
	// gob panics at nil.
	if r := reflect.ValueOf(&v).Elem(); (r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface) && r.IsNil() {
		return dst, errGobNil
	}
	w := appender(dst)
	if err := gob.NewEncoder(&w).Encode(&v); err != nil {
		return dst, err
	}
	// A pointer to a nil pointer it takes, and cannot read what it has made of it.
	for r := reflect.ValueOf(&v).Elem(); r.Kind() == reflect.Pointer; r = r.Elem() {
		if r.IsNil() {
			return dst, errGobNil
		}
	}
	return w, nil
}

func (gobCodec[T]) Decode(data []byte) (v T, err error) {
	r := bytes.NewReader(data)
	if err := gob.NewDecoder(r).Decode(&v); err != nil {
		return v, err
	}
	if r.Len() > 0 {
		return v, fmt.Errorf("%d bytes behind the value", r.Len())
	}
	return v, nil
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
