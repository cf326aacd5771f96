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
// Beside this package are client/typed for values of Go types, client/admin for what
// concerns one server, client/gomemcache for programs that use gomemcache, and
// client/memcachedtest for tests.
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
// and each server that was late has an error of its own. Other batches may take longer:
// OpTimeout bounds for how long a server may bring nothing of one, and their context
// the whole. A GetOrLoad waits for a load as long as its context lets it.
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
// # Whose reply it is
//
// memcached answers in the order of the requests. That order says which reply is
// whose, and the replies prove it: those of the meta protocol carry an opaque number
// of their request, those to a get the key as well, unless it is a binary one (see
// Config.BinaryKeys), and those to a GetMulti the keys, in the order in which they were
// asked for. On any mismatch the connection is closed, everything outstanding on it
// fails with [ErrDesync], and nothing of the reply is handed out.
//
// # Options and states
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
// invalidated again meanwhile. GetOrLoad, below, is made of this.
//
// [Client.Inspect] tells what the server knows of an item beside its value; the same
// comes with a get that asks for Info. [Client.Meta] sends any command of the meta
// protocol with any flags.
//
// # Batches
//
// [Client.GetMulti] yields the items of many keys, [Client.SetMulti],
// [Client.DeleteMulti] and [Client.TouchMulti] do one thing to many items, and
// [Client.Do] carries out a [Batch] of requests of any kind:
//
//	var b client.Batch
//	b.Set(item)
//	hits := b.Increment("hits", 1, nil)
//	err := c.Do(ctx, &b)
//
// Each entry has a result of its own, whatever becomes of the others: if any has an
// error, the call's is a [BatchError] with all of them by number. [Except] leaves out
// what does not matter, such as ErrNotFound of a delete. A GetMulti passes over keys
// without an item, and its errors name the keys that they concern ([OpError].Keys).
// Entries have options of their own, and a SetMulti or DeleteMulti those that can be
// the same for all.
//
// A batch can be of any size. All servers are served at the same time, each over one
// connection, in the order of the entries. What is outstanding there is bounded, at a
// few hundred requests; replies are read while others are still to be sent, so nothing
// can deadlock. One of more than 48 requests to a server leaves the first connection
// to lone requests, if Config.ConnsPerServer allows for another.
//
// # Loading
//
// [Client.GetOrLoad] is for values that are made from something slower. Of all
// processes that miss a key at once, one makes its value, and the others wait for it;
// with LoadOptions.Refresh, one makes it anew before it expires while all use the old
// one. It holds if a process dies over it, and what was deleted or stored meanwhile is
// not overwritten. If the cache fails, values are made without it.
//
// # Keys and servers
//
// A key has 1 to [MaxKeyLen] bytes, none of them a space or a control character.
// Config.KeyPrefix puts something in front of each, Config.BinaryKeys allows for any
// bytes, and Config.HashLongKeys for any length. Keys are spread over the servers by
// rendezvous hashing; see [Selector]. Bad input is refused with [ErrKey], [ErrTTL] or
// [ErrArgument] before anything is sent.
//
// # TLS and authentication
//
// With Config.TLS connections speak TLS, on either engine, and with Config.Credentials
// they are authenticated before a request is sent on them. Both functions are called
// for each new connection, so that certificates and credentials can change while the
// client runs; [TLSFiles] reads certificate files again. A server that demands no
// authentication although there are credentials is not used, unless
// Config.AllowUnauthenticated is set. While no connection can be made, the error of the
// calls that need it is [ErrUnavailable], with the reason and, if that is
// authentication, with [ErrAuth].
//
// What waits in the send buffer may be encrypted already. It cannot be withdrawn then,
// and a call that ends is Unknown where the table above has NotSent.
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
// # Counters
//
// [Client.Counters] are always on. [Counters] has the engines' system calls, bytes and
// connections, and the sums over all servers of what [ServerCounters] has for each:
// connections opened (Dials) and attempts that failed (FailedDials); of the former,
// those used without the authentication there are credentials for (Unauthenticated);
// requests given up after they were sent (Timeouts), the replies to them that came late
// (LateReplies), and the bytes of values that were thrown away with those (Drained);
// connections that ended, by cause (ClosedByServer, ClosedByStall, ClosedByDebt,
// ClosedByDesync, ClosedByClose). ClosedByDesync that rises means a broken server or
// proxy; Timeouts that stay ahead of LateReplies, a server that does not keep up.
// [Client.LoadCounters] tell how GetOrLoad goes.
//
// # Versions
//
// Servers must speak the meta protocol, which memcached does from 1.6.10 on. That is
// not asked for; what an earlier one answers otherwise ends in [ErrDesync].
//
// Some options need a newer server, as their comments say. Before one is used on a
// connection for the first time, the server there is asked for its version, which takes
// one more round trip; calls without such options never ask. What the server does not
// know is not sent to it: the call takes another way that comes to the same, where one
// is documented (GetOptions.UnlessCAS, StoreOptions.Create), and else fails with
// [ErrUnsupported], as an [UnsupportedError] that names the version needed. A server
// whose version cannot be read counts as one that lacks them all. Of a call that takes
// two requests the Outcome is never NotSent once the first was answered.
//
// # Limitations
//
// Nothing is repeated that was sent: whether a failed write can be, the caller decides,
// by its Outcome. There are no replicas: a key has one server, and while that cannot be
// reached its calls fail. The list of servers is fixed; to change it, make a new client.
package client
