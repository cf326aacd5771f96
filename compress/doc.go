// Package compress has the compressors of package typed that need more than the
// standard library: zstd and s2, both of github.com/klauspost/compress. It is a module
// of its own, so that only programs which use them depend on it.
//
//	users, err := typed.New(c, typed.JSON[User](), &typed.Config{
//		Compressor: compress.Zstd(),
//		Readers:    []typed.Compressor{compress.S2(), typed.Gzip()},
//	})
//
// [Zstd] makes values about as small as gzip does, in much less time, and has a
// checksum; what it makes is what the program zstd makes. [S2] is faster still, makes
// values less small, has no checksum, and writes a format of its own, that of S2 blocks.
//
// A Compressor is used by many goroutines at once, and several caches can share
// one. It has no goroutines and needs no closing. How compression is brought to
// programs that run already is said in package typed.
package compress
