// Package compress has the compressors of package typed that need more than the
// standard library: zstd and s2, both of github.com/klauspost/compress. It is a module
// of its own, so that only programs which use them depend on it.
//
//	users, err := typed.New(c, typed.JSON[User](), &typed.Config{
//		Compressor: compress.Zstd(),
//		Readers:    []typed.Compressor{compress.S2(), typed.Gzip()},
//	})
//
// [Zstd] makes JSON a little smaller than [typed.Gzip] does, takes less time for it,
// above all to read it, and has a checksum; the values are files for the program zstd. [S2]
// takes several times less time still, for values that are half as large again. It has
// no checksum, and a format of its own.
//
// A Compressor is used by many goroutines at once, and several caches can share
// one. It has no goroutines and needs no closing. How compression is brought to
// programs that run already is said in package typed.
package compress
