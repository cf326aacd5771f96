// Package ring is the io_uring engine: a [transport.Engine] whose callers
// drive one shared ring themselves.
//
// There is no I/O goroutine. The first caller that waits takes the driver's
// role: it submits everything that is pending, its own request and those of
// others, and blocks for the replies, all in one io_uring_enter(2). It parses
// what arrived, wakes the callers whose replies were among it, and hands the
// role on when its own reply is there. So a lone request costs one system
// call, and a crowd shares each one.
//
// The driver waits blocked in the kernel where replies are quick, and parked in
// Go's network poller, on an eventfd that completions ring, where they are slow.
// A keeper, one goroutine a ring, looks after all this by ticks while callers
// come and go: it wakes a driver that has waited for long, so that it sees its
// deadline and its context, and ends the sleep of others that are late. When
// callers stop coming it watches the ring instead, and so drains late replies and
// notices a server that closes.
//
// Each connection owns one 64 KiB receive buffer out of an mmap'd arena,
// registered with the ring. If the kernel refuses the registration because of
// RLIMIT_MEMLOCK, the same buffer is used with plain receives instead;
// [Engine.Degraded] tells so. Send buffers are given back some 10 ms after their
// last use; an idle connection has under 1 KiB of Go memory.
//
// The package needs Linux 5.11 (IORING_FEAT_EXT_ARG). It does not compare
// versions but tries: [New] sets a ring up and sends a NOP through it, and its
// error names the cause and a remedy. On other systems New returns an error
// that matches [errors.ErrUnsupported].
package ring
