// Package reader parses what a memcached server answers, out of whatever
// bytes have come so far. It does no I/O, starts no goroutine and knows no
// time: a connection gives its [Parser] each window of received bytes, and the
// parser calls the [Slot] at the head of the connection's FIFO.
//
//	for {
//		n := receive(buf[kept:])
//		used, err := parser.Parse(buf[:kept+n], fifo)
//		if err != nil {
//			return err // poison: fail everything outstanding, close
//		}
//		kept = copy(buf, buf[used:kept+n]) // a partial line, less than MaxLine
//	}
//
// # Memory
//
// Everything that a slot is given lies in the window or in the Parser, and
// dies when the call returns. A value is handed out as it comes, so only a
// partial line can stay behind in the window, and a buffer of [MaxLine] bytes
// is enough for any stream. Parsing allocates nothing until the stream is
// poisoned.
//
// A connection may receive a large value straight into its destination: it
// asks [Parser.ValueLeft] how many bytes the value still lacks, receives at
// most that many, and reports them with [Parser.Landed].
//
// # Staying in sync
//
// Replies match requests by order alone, because the server's error lines carry
// neither opaque nor key. Opaque and key then verify the match, those of the two that
// were asked back: [Expect] says which. In a [Run], whose many requests are one slot,
// the opaque also says which of them a reply answers.
//
// Whatever does not fit poisons the Parser for good: it returns a [*DesyncError] from
// then on and never searches the stream for a place to go on from. The same goes for
// the error lines after which the server may run a request's body as commands.
//
// # Cancellation
//
// A slot leaves the FIFO by its reply or with its connection. One whose caller
// has given up stays as a tombstone, which ignores what it is given. When a
// connection dies, the slots left in its FIFO and [Parser.Slot], the one whose
// reply had begun, have to be failed by the connection.
//
// # Limitations
//
// Quiet requests (the q flag) may have no reply at all, so they are one slot together
// with the mn that ends them; noreply is not modelled. The commands which take over
// their connection (watch, lru_crawler metadump and mgdump) are not understood, and
// client flags are 32 bits wide: a server built for 64 that returns more is poison.
package reader
