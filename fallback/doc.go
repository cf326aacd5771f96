// Package fallback is the poll engine: memring's I/O on Go's network poller,
// for hosts that have no io_uring and for connections that are no plain
// sockets (TLS, custom dialers). It builds on every OS.
//
// Like the io_uring engine it is driven by its callers. A caller in
// [Engine.Wait] first writes what is pending on its connections, its own
// requests and other callers' in one write, unless somebody is writing there
// already. Then it takes the connection's read baton, reads and delivers
// replies, its own and others', until its own has come, and passes the baton
// to a caller that sleeps. A lone caller so makes two system calls and no
// goroutine switch of ours; many callers share both.
//
// Goroutines of the engine exist only off that path, each for as long as it is
// needed: a keeper reads a connection on which no caller is about to (idle, or
// one of several that a caller waits for), a flusher ends a write that would
// block. One clock per engine ends what is late and starts keepers; it is at
// rest when all is idle.
//
// An idle connection has given its receive buffer and its send buffers back. It
// costs some 4 KiB, half of which are its keeper's stack.
package fallback
