// Package typed is a memcached client for values of Go types: a codec makes bytes
// of them, and a compressor, if there is one, makes those fewer.
//
//	users := typed.Of(c, typed.JSON[User]()) // c is a *client.Client
//	err := users.Set(ctx, typed.Item[User]{Key: "user:7", Value: u, TTL: time.Hour})
//	it, err := users.Get(ctx, "user:7")      // it.Value is a User
//
// A [Cache] adds nothing to what goes over the wire but, where it compresses, a mark
// in the client flags. The calls of package client keep their meaning: when they end,
// what their errors say of the request, and whose the memory is.
//
// # Codecs
//
// There are [JSON], [Gob], [Bytes], [String], and [Binary] and [Text] for types that
// encode themselves. Any other is a [Codec] of two methods.
//
// T may be a pointer: JSON stores a nil one as null, Gob refuses it. Zero values are
// values as any other; that there is none under a key is client.ErrNotFound, never a
// zero T. That holds for the places that [client.GetOptions].Vivify makes, too, but for
// one case: see [Cache.GetMulti].
//
// What codec has made a value is not marked: other programs read and write plain
// JSON. Nor is the version of a type. What is stored must therefore be readable by
// all programs that share the cache, or have another key: "user:v2:7" is how a change
// that JSON's rules for unknown and missing fields do not cover is rolled out.
//
// # Values that cannot be decoded
//
// Get returns a [DecodeError] then. The item stays as it is, for the program that can
// read it; DecodeError.CAS is what it takes to replace just this one. With
// Config.UndecodableIsMiss the error matches client.ErrNotFound as well, so that
// programs which load what they miss go on, and overwrite it; [Cache.GetOrLoad] does
// so itself, and GetMulti passes such values over. [Cache.Undecodable] counts them in
// either case, and should not rise.
//
// # Loading, batches, options
//
// [Cache.GetOrLoad], [Cache.SetMulti] and [Cache.DeleteMulti] are the client's, with
// values of type T: a load returns a T, and each of the callers that wait for it gets a
// T of its own. Calls take the options that the client's take. What a Cache does not
// have (arithmetic, a [client.Batch], Inspect) its [Cache.Client] has; [Cache.Encode]
// and [Cache.Decode] are for values on the way there.
//
// # Compression
//
// With Config.Compressor, values of Config.CompressFromBytes and more are compressed,
// and stored so if that is less. [Gzip] and [Flate] are the standard library's; zstd
// and s2 are in package client/typed/compress, a module of its own. The compressor's ID
// is stored in the bits Config.FlagMask of the flags. Values without it are read as
// they are, so that compression can be switched on while the servers are full, but in
// this order:
//
//  1. All programs get the new compressor into Config.Readers, and are rolled out.
//  2. Then it becomes the Config.Compressor, program by program.
//
// A cache that meets the mark of a compressor which it has not returns a DecodeError
// that matches [ErrUnknownCompression]. To change compressors do the same; the old
// one stays among the Readers until its last value has expired, and to switch
// compression off, it is only moved there. A value is marked by whom it was made, not
// by level.
//
// The default of FlagMask, 0x78000000, is out of the way of what other clients use
// of the flags by themselves: python-memcached, pylibmc and pymemcache 0x1f, Dalli (Ruby)
// and PHP's memcache 0x3, spymemcached (Java) 0xff03, PHP's memcached 0xffff. The
// latter lets its users set all the others, and gomemcache uses none and leaves them all to its
// users. Whoever has put values into the bits of the default chooses others for FlagMask,
// or those items are taken for compressed ones. Other clients do not look at the mark,
// and get a compressed value as it is stored.
//
// Decompression stops at Config.MaxDecodedBytes with an error that matches
// [ErrDecodedSize]: a small value can claim to become gigabytes.
//
// client.Client's Append and Prepend make nonsense of a compressed value.
//
// # Memory
//
// Values are encoded and compressed in memory that is used again. Those that are got
// are decoded out of leases, see [client.Client.GetLease], so that a Get takes fresh
// memory for T alone, however much JSON it was. A codec that is a [Raw], as Bytes is,
// spares T's bytes the copy as well: Set sends them from where they are, and Get
// receives them where they stay. Of each call's memory up to 4 MiB are kept for
// the next one.
package typed
