// Package memcache is gomemcache's API on memring: a program that uses
// github.com/bradfitz/gomemcache/memcache changes one import line,
//
//	import "github.com/memring/memring/client/gomemcache"
//
// and goes on to compile and to find what it has cached. The package is called
// memcache, as gomemcache's is.
//
// Its calls share few connections and travel in batches, on io_uring where that
// can be had, and a timeout costs the call but not the connection; package client
// has the whole story. New code does better with package client itself, which has
// contexts, TTLs as durations, and errors that tell what became of a request.
//
// # What stays
//
// Names and types; results and the errors that have names, to be compared with
// ==; which server a key belongs to, see [ServerList]; flags, expirations and
// versions as the server sees them. Where gomemcache's documentation says one
// thing and its code does another (CompareAndSwap of a key without an item,
// DeleteAll with several servers), this package does what the code does. The
// tests in bench/differential drive both clients with the same calls and compare
// results and what the servers hold.
//
// # What changes
//
//   - Timeout bounds a whole call, not each read and write.
//   - A call that has timed out leaves its connection open. A write among them may
//     have been carried out, or may yet; so it was with gomemcache.
//   - MaxIdleConns is not looked at: calls share connections.
//   - While a server cannot be reached it is tried again after 10 ms, then after
//     longer pauses, up to 2 s. Calls in between fail at once, Ping as well.
//   - A connection that the server has closed while it was idle costs no call an
//     error.
//   - Errors without a name have other texts. All match what they wrap, see
//     [client.OpError]; those of the server match [ErrServerError] as well.
//   - An empty key is [ErrMalformedKey] and not sent.
//   - A value that is too large for the server costs the stored item under its key
//     with every store, not with Set alone.
//   - GetAndTouch sets [Item].CasID.
//   - DialContext is not looked at in each dial, and makes connections run on the
//     poll engine.
//   - Close waits for the calls under way.
//   - Servers must be memcached 1.6.10 or later.
//
// MIGRATING.md, beside this file, says why, and which call of package client does
// what.
package memcache
