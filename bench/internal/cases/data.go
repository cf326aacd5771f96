package cases

import "fmt"

// KeyCount is the number of keys that values of a size have on the server: a thousand, or as many as take
// 16 MiB, so that a run has room for all sizes; but four.
func KeyCount(size int) int { return min(1000, max(4, 16<<20/size)) }

// Key names the i-th value of a size.
func Key(size, i int) string { return fmt.Sprintf("get%d:%06d", size, i%KeyCount(size)) }

// WriteKey names the i-th value that sets overwrite; gets never read these.
func WriteKey(size, i int) string { return fmt.Sprintf("set%d:%06d", size, i%KeyCount(size)) }

const filler = 'x'

// AppendValue appends the one right value of a key: the key itself, filled up to size.
func AppendValue(dst []byte, key string, size int) []byte {
	dst = append(dst, key[:min(len(key), size)]...)
	for i := len(key); i < size; i++ {
		dst = append(dst, filler)
	}
	return dst
}

// Right tells whether a value is the key's. It looks at the length and both ends, so that checking
// every reply costs nothing next to fetching it.
func Right(value []byte, key string, size int) bool {
	return len(value) == size && string(value[:min(len(key), size)]) == key[:min(len(key), size)] &&
		(size <= len(key) || value[size-1] == filler)
}
