// Package client is a memcached client for Linux services that count
// microseconds and CPU. Its I/O runs on io_uring, and where that cannot be had,
// on Go's network poller with the same behaviour.
//
//	c, err := client.New([]string{"127.0.0.1:11211"}, nil)
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	err = c.Set(ctx, client.Item{Key: "greeting", Value: []byte("hello"), TTL: time.Hour})
//	it, err := c.Get(ctx, "greeting")
//
// One client serves a whole process: its goroutines share few connections, and
// their requests travel in batches. No goroutine stands between a caller and
// its reply; the callers that wait do the I/O themselves.
//
// # Cancellation and timeouts
//
// Every call ends at its context's deadline, when the context is cancelled, or
// after Config.OpTimeout, whichever comes first. That costs the call alone: the
// connection stays open and in sync, and the late reply is thrown away when it
// comes. The error is an [OpError] whose Outcome says what is known of the
// request:
//
//   - [NotSent]: no byte of it has left the process. It can be repeated safely;
//     [SafeToRetry] tells just this.
//   - [Unknown]: it was sent, at least in part, and no answer was seen. The
//     server may have carried it out, or may yet.
//   - [Answered]: the server has answered, with an error.
//
// A call can end at any point of its request's life. Which one it was decides
// what is known, and what becomes of the connection:
//
//	the request is …                    timeout, cancel     connection breaks   Close
//	waiting for a connection            NotSent             NotSent             NotSent
//	waiting in the send buffer          NotSent, withdrawn  sent on another     NotSent
//	half sent                           Unknown, drained    Unknown             Unknown
//	sent                                Unknown, drained    Unknown             Unknown
//	answered in part: header or value   Unknown, drained    Unknown             Unknown
//
// Withdrawn: it is taken out of the buffer and never leaves it. Drained: the
// rest of the request still goes out, the reply is consumed whole when it comes,
// and the connection serves other requests all the while. Sent on another: the
// call goes on with a new connection, and ends with NotSent if those break as
// well.
//
// The caller's memory (a value to be stored, the slice of a GetAppend) is not
// touched any more once the call has returned, at whatever point. If the
// connection breaks the error is [ErrConnLost], after Close it is [ErrClosed];
// while there is no connection it is [ErrUnavailable].
//
// A GetMulti has one deadline for all servers; what has come by then was yielded,
// and each server that was late has an error of its own. The batches that may take
// longer, see below, are bounded by their context alone; OpTimeout is for how long a
// server may bring nothing of one.
//
// A server that closes a connection while it is idle costs no call an error: the
// end is noticed before the next request is written, and a new connection is
// made. (Idle is one on which nothing is outstanding, and whose last request was
// made more than a millisecond ago. A FIN that a request meets on its way looks like any
// other loss.)
//
// A connection is closed only if it breaks, if nothing has come on it for
// Config.StallLimit although replies are due, if it owes more than
// Config.MaxDebt of them, or if a reply does not match its request. How a write
// ended whose outcome was unknown, Config.LateWrite is told.
//
// # Counters
//
// [Client.Counters] are always on. [Counters] has the engines' system calls,
// bytes and connections, and the sums over all servers of what
// [ServerCounters] has for each: connections opened (Dials) and attempts that
// failed (FailedDials); of the former, those used without the authentication there are
// credentials for (Unauthenticated); requests given up after they were sent (Timeouts), the
// replies to them that came late (LateReplies), and the bytes of values that
// were thrown away with those (Drained); connections that ended, by cause
// (ClosedByServer, ClosedByStall, ClosedByDebt, ClosedByDesync, ClosedByClose).
// ClosedByDesync that rises means a broken server or proxy; Timeouts that stay
// ahead of LateReplies, a server that does not keep up.
//
// # Whose reply it is
//
// memcached answers in the order of the requests. That order says which reply
// is whose, and the replies prove it: each reply of the meta protocol carries an
// opaque number of its request, that to a get the key as well unless it is a binary
// one (see Config.BinaryKeys), and those to a GetMulti the keys, in the order in
// which they were asked for. On any mismatch
// the connection is closed, everything outstanding on it fails with [ErrDesync],
// and nothing of the reply is handed out.
//
// # Keys and servers
//
// A key has 1 to [MaxKeyLen] bytes, none of them a space or a control
// character. Config.KeyPrefix puts something in front of each, Config.BinaryKeys
// allows for any bytes, and Config.HashLongKeys for any length. Keys are spread over
// the servers by rendezvous hashing; see [Selector]. Bad input is refused with
// [ErrKey], [ErrTTL] or [ErrArgument] before anything is sent.
//
// # Options, states and versions
//
// Calls that can be asked for more take a struct as their last argument, at most one,
// whose zero value asks for nothing: [GetOptions], [StoreOptions], [DeleteOptions] and
// [CounterOptions]. Options cost no allocation.
//
//	it, err := c.Get(ctx, "report", client.GetOptions{Vivify: time.Minute})
//
// An item that is missing, about to expire, or invalidated is one caller's to store
// anew: [Item].State says so with [Won], and [Claimed] to the others. It is nobody's any
// more when it is stored. An invalidated item is [Stale] until then: its value is the
// one from before, for as long as [DeleteOptions] gave it. Who stores with the CAS that
// came with Won (CompareAndSwap, or StoreOptions.IfCAS) stores nothing if the item was
// invalidated again meanwhile.
//
// [Client.Inspect] tells what the server knows of an item beside its value; the same
// comes with a get that asks for Info. [Client.Meta] sends any command of the meta
// protocol with any flags.
//
// Some options need a newer server than the client does, as their comments say. Before
// one is used on a connection for the first time, the server there is asked for its
// version, which takes one more round trip; calls without such options never ask. What
// the server does not know is not sent to it: the call takes another way that comes to
// the same, where one is documented (GetOptions.UnlessCAS, StoreOptions.Create), and
// else fails with [ErrUnsupported], as an [UnsupportedError] that names the version
// needed. A server whose version cannot be read counts as one that lacks them all. Of a
// call that takes two requests the Outcome is never NotSent once the first was answered.
//
// # Batches
//
// [Client.SetMulti], [Client.DeleteMulti] and [Client.TouchMulti] do one thing to many
// items, [Client.Do] carries out a [Batch] of requests of any kind:
//
//	var b client.Batch
//	b.Set(item)
//	hits := b.Increment("hits", 1, nil)
//	err := c.Do(ctx, &b)
//
// Each entry has a result of its own, whatever becomes of the others: if any has an
// error, the call's is a [BatchError] with all of them by number. [Except] leaves out
// what does not matter, such as ErrNotFound of a delete. Entries have options of their
// own, and a SetMulti or DeleteMulti those that can be the same for all.
//
// A batch can be of any size. All servers are served at the same time, each over one
// connection, in the order of the entries, with up to a few hundred requests
// outstanding: replies are read while others are still to be sent, so nothing can
// deadlock, and the memory of a batch under way does not grow with it. One of more
// than 48 requests to a server leaves the first connection to lone requests, if
// Config.ConnsPerServer allows for another.
//
// Deletes, and gets with options or binary keys, are made quietly: the server leaves
// out what is nominal, and other replies are matched by their opaque. Stores and
// touches have a reply each.
//
// # Loading
//
// [Client.GetOrLoad] is for values that are made from something slower. Of all
// processes that miss a key at once, one makes its value, and the others wait for it;
// before it expires, one makes it anew while all use the old one. It holds if a
// process dies over it, and what was deleted or stored meanwhile is not overwritten.
// [Client.LoadCounters] tell how that goes.
//
// # Memory
//
// Values are copied once, out of the connection's 64 KiB receive buffer into
// memory that is the caller's own; what a large value has beyond that is received
// straight into its place, see Config.DirectReceive. Nothing that is handed out
// refers to the buffer.
//
// Get and GetMulti return values in fresh memory, exactly as large as needed. From
// some 32 KiB on, zeroing it and having the kernel map it costs more than the whole
// transfer. There are two ways around that: [Client.GetAppend] appends to a slice of
// the caller's, and [Client.GetLease] and [Client.GetMultiLease] lend memory that the
// client uses again once [Lease.Release] was called.
//
// A value's memory is one lessee's alone from before its first byte comes until it is
// released. Releasing it twice is an error and harmless, never releasing it leaves it
// to the garbage collector; using it after its release is what Go cannot prevent.
// Config.PoisonLeases, for tests, finds that.
//
// What was released is kept for the next leases in size classes, four to each
// doubling from 1 KiB to 16 MiB, so that a value takes up to a quarter more memory
// than it has bytes. The client keeps what has been lent at one time, until the
// garbage collector has run twice without its being lent again. Values of more than
// 16 MiB have memory of their own, which is not kept.
//
// # Limitations
//
// Servers must speak the meta protocol of memcached 1.6.10 or later. That is not asked
// for; what an earlier one answers otherwise ends in [ErrDesync]. For TLS see
// Config.TLS, for authentication Config.Credentials.
package client
