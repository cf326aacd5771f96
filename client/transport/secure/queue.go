package secure

import "slices"

// A queue knows where the requests end that wait to be encrypted, so that records end
// there, too: a record has as many whole requests as it holds, and a longer request
// has records of its own.
//
// The reason is memcached (1.6.18 at least). It reads as much as it has room for,
// 16 KiB of requests or the rest of a value, and then waits for its socket to have
// more. What was left of a record by then is in OpenSSL's memory, where nobody looks
// until the client sends again: the requests in it have no answer. Of such records
// nothing is left.
type queue struct{ sizes []int }

// recordSize is how much crypto/tls puts into a record, unless it may begin with small
// ones (maxPlaintext in crypto/tls/common.go).
const recordSize = 16 << 10

// keptSizes is for how many requests a connection keeps room.
const keptSizes = 64

func (q *queue) add(size int) { q.sizes = append(q.sizes, size) }

// remove takes out the request of that size which has after bytes of others behind it.
func (q *queue) remove(size, after int) {
	for i := len(q.sizes) - 1; i >= 0; i-- {
		if after == 0 && q.sizes[i] == size {
			q.sizes = slices.Delete(q.sizes, i, i+1)
			return
		}
		after -= q.sizes[i]
	}
}

// record returns how many bytes, of the requests from number i on, are to be written
// together, and the number of the first one behind them.
func (q *queue) record(i int) (size, next int) {
	size = q.sizes[i]
	for i++; i < len(q.sizes) && size+q.sizes[i] <= recordSize; i++ {
		size += q.sizes[i]
	}
	return size, i
}

func (q *queue) reset() {
	q.sizes = q.sizes[:0]
	if cap(q.sizes) > keptSizes {
		q.sizes = nil
	}
}
