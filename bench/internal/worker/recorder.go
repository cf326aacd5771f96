package worker

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// blockOps is how many latencies a caller keeps to itself before it adds them to the histogram.
// Few, so that the blocks of many callers stay in the caches.
const blockOps = 256

// sliceDigits is how exact a whole slice's latencies are: to 0.1%.
const sliceDigits = 3

// recorder collects the latencies of many callers.
type recorder struct {
	mu   sync.Mutex
	hist *hdrhistogram.Histogram
}

func newRecorder(digits int) *recorder {
	return &recorder{hist: hdrhistogram.New(1, math.MaxUint32, digits)}
}

func (r *recorder) reset() { r.hist.Reset() }

func (r *recorder) count() uint64 { return uint64(r.hist.TotalCount()) }

func (r *recorder) quantile(percent float64) time.Duration {
	return time.Duration(r.hist.ValueAtQuantile(percent))
}

// block belongs to one goroutine: a store per operation, a lock per blockOps.
type block struct {
	to      *recorder
	n       int
	ns      [blockOps]uint32 // the longest is 4.29 s
	longest time.Duration    // of the slice's calls from when they were made; only follow keeps it
}

// add records one latency and tells whether the block was emptied, which takes a few microseconds.
func (b *block) add(d time.Duration) bool {
	b.ns[b.n] = uint32(min(d, math.MaxUint32))
	b.n++
	if b.n < blockOps {
		return false
	}
	b.drain()
	return true
}

func (b *block) drain() {
	b.to.mu.Lock()
	defer b.to.mu.Unlock()
	for _, ns := range b.ns[:b.n] {
		_ = b.to.hist.RecordValue(int64(ns)) // in range by its type
	}
	b.n = 0
}
