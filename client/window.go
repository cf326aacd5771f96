package client

// A window bounds what a batch has outstanding on a connection. It bounds the
// memory of a batch under way, whatever its size, and how long a request waits that
// another caller makes on the same connection, since replies come in order.
type window struct {
	requests int
	bytes    int // of requests
}

var (
	// besideOthers is for a connection that lone requests use as well. The server
	// carries out 20 requests of a connection before it turns to another (its option
	// -R), so 48 keep it busy while replies and more requests are on their way.
	besideOthers = window{requests: 48, bytes: 256 << 10}
	// apart is for one that lone requests don't prefer. It lets a connection with a
	// round trip of 1 ms carry a quarter of a million requests a second.
	apart = window{requests: 256, bytes: 1 << 20}
)

// leastOutstanding is how many requests are sent whatever their size, so that one
// travels while the other is answered.
const leastOutstanding = 2

// open reports whether another request may be sent beside n that have so many bytes.
func (w window) open(n, bytes int) bool {
	return n < leastOutstanding || n < w.requests && bytes < w.bytes
}

// refill reports whether it is time to fill a window again that was full: when half
// of it is answered, so that requests go out many at a time.
func (w window) refill(n, bytes int) bool {
	return window{w.requests/2 + 1, w.bytes/2 + 1}.open(n, bytes)
}
