package admin

import (
	"context"
	"math"
	"strconv"
	"time"
)

// FlushAll invalidates every item that is there now, or when delay has passed:
// items stored before that moment end with it. The delay is rounded up to seconds
// and is at most 30 days, which memcached would read as a date beyond that.
func (s *Server) FlushAll(ctx context.Context, delay time.Duration) error {
	if delay < 0 || delay > 30*24*time.Hour {
		return s.refuse("flush_all", "the delay is not between zero and 30 days")
	}
	return s.do(ctx, nil, "flush_all", number(seconds(delay)))
}

// SetVerbosity sets how much the server prints: 0 is nothing, 1 errors, 2 each
// command as well, and above that more.
func (s *Server) SetVerbosity(ctx context.Context, level int) error {
	if level < 0 || level > math.MaxInt32 {
		return s.refuse("verbosity", "the level is not between 0 and 2,147,483,647")
	}
	return s.do(ctx, nil, "verbosity", number(int64(level)))
}

// SetMemLimit sets how much memory the server may use for items, in MiB. It gives
// memory back, which takes its time, only if its slab automover runs. The error is
// [ErrMemLimit] if the server does not want so little, less than 8, or so much, or
// was started with its memory allocated (-L).
func (s *Server) SetMemLimit(ctx context.Context, mib int) error {
	if mib <= 0 || mib > math.MaxInt32 {
		return s.refuse("cache_memlimit", "the limit is not between 1 and 2,147,483,647 MiB")
	}
	return s.do(ctx, []string{"MEMLIMIT_TOO_SMALL", "MEMLIMIT_ADJUST_FAILED"}, "cache_memlimit", number(int64(mib)))
}

// RefreshCerts has the server read its certificates again, whose files may have
// changed. The error is [ErrCerts] if it can't, or has no TLS, and an
// [client.ErrServer] if it was built without.
func (s *Server) RefreshCerts(ctx context.Context) error {
	return s.do(ctx, []string{"Error"}, "refresh_certs")
}

// AnyClass is a source for ReassignSlab.
const AnyClass = -1

// ReassignSlab moves a page of memory from one slab class to another: from AnyClass
// lets the server choose, to 0 gives the page to the pool for all. Items in the page
// are moved or evicted. It returns when the move is under way. The error is
// [ErrBusy], [ErrBadClass], [ErrNoSpare], [ErrNotFull], [ErrUnsafe], [ErrSame], or
// [ErrDisabled] if the server was started without slab_reassign.
func (s *Server) ReassignSlab(ctx context.Context, from, to int) error {
	if from < AnyClass || from > maxClass || to < 0 || to > maxClass {
		return s.refuse("slabs reassign", "a class is not between 0 and 255, or AnyClass as the source")
	}
	return s.do(ctx, []string{"BUSY", "BADCLASS", "NOSPARE", "NOTFULL", "UNSAFE", "SAME"},
		"slabs", "reassign", number(int64(from)), number(int64(to)))
}

// Automove is when the server moves pages between slab classes by itself.
type Automove uint8

// The modes. Aggressive moves a page at every eviction, and is not for long.
const (
	AutomoveOff Automove = iota
	AutomoveOn
	AutomoveAggressive
)

// SetAutomove sets when the server moves pages by itself.
func (s *Server) SetAutomove(ctx context.Context, mode Automove) error {
	if mode > AutomoveAggressive {
		return s.refuse("slabs automove", "the mode is none of the three")
	}
	return s.do(ctx, nil, "slabs", "automove", number(int64(mode)))
}

// SetLRUSegmented chooses between the LRU in segments, HOT, WARM and COLD, and the
// flat one. The error is a [client.ErrServer] if the server has no LRU maintainer.
func (s *Server) SetLRUSegmented(ctx context.Context, segmented bool) error {
	mode := "flat"
	if segmented {
		mode = "segmented"
	}
	return s.do(ctx, nil, "lru", "mode", mode)
}

// LRUTuning is how large the segments of the LRU get. What is beyond goes to COLD.
type LRUTuning struct {
	HotPercent, WarmPercent int // of a class's memory, 80 together at most

	// How old the last item of HOT and WARM may get, as a multiple of the age of the
	// last of COLD. More than 0.
	HotMaxFactor, WarmMaxFactor float64
}

// TuneLRU sets how large the segments of the LRU get.
func (s *Server) TuneLRU(ctx context.Context, t LRUTuning) error {
	switch {
	case t.HotPercent < 0 || t.WarmPercent < 0 || t.HotPercent > 80 || t.WarmPercent > 80-t.HotPercent:
		return s.refuse("lru tune", "the percentages are negative or exceed 80 together")
	case !(t.HotMaxFactor > 0) || !(t.WarmMaxFactor > 0) || t.HotMaxFactor > maxFactor || t.WarmMaxFactor > maxFactor:
		return s.refuse("lru tune", "a factor is not above 0, or is beyond a million")
	}
	return s.do(ctx, nil, "lru", "tune", number(int64(t.HotPercent)), number(int64(t.WarmPercent)),
		strconv.FormatFloat(t.HotMaxFactor, 'f', -1, 64), strconv.FormatFloat(t.WarmMaxFactor, 'f', -1, 64))
}

// SetTempTTL keeps items with a shorter TTL than this in an LRU of their own, from
// which nothing is evicted before its time. Sub-second parts are rounded up;
// negative is no such LRU.
func (s *Server) SetTempTTL(ctx context.Context, ttl time.Duration) error {
	n := seconds(ttl)
	switch {
	case ttl < 0:
		n = -1
	case n > math.MaxInt32:
		return s.refuse("lru temp_ttl", "the TTL is longer than 2,147,483,647 s")
	}
	return s.do(ctx, nil, "lru", "temp_ttl", number(n))
}

// Crawl has the LRU crawler look for expired items, in all classes or in some. It
// returns when the crawler has started. The error is [ErrBusy], [ErrBadClass],
// [ErrNothing], or [ErrDisabled].
func (s *Server) Crawl(ctx context.Context, where Scope) error {
	// By the hash table it would count the items of all classes as of the first,
	// and take them out of its LRU.
	if where == ByHash || !where.valid() {
		return s.refuse("lru_crawler crawl", "it goes by classes: AllClasses or Classes")
	}
	return s.do(ctx, []string{"BUSY", "BADCLASS", "NOTSTARTED"}, "lru_crawler", "crawl", string(where))
}

// SetCrawler starts or stops the LRU crawler, which Keys and MGDump need too. The
// error is a [client.ErrServer] if it runs already.
func (s *Server) SetCrawler(ctx context.Context, on bool) error {
	word := "disable"
	if on {
		word = "enable"
	}
	return s.do(ctx, nil, "lru_crawler", word)
}

// SetCrawlerSleep sets how long the crawler sleeps between items, 1 s at most.
func (s *Server) SetCrawlerSleep(ctx context.Context, pause time.Duration) error {
	if pause < 0 || pause > time.Second {
		return s.refuse("lru_crawler sleep", "the pause is not between zero and 1 s")
	}
	return s.do(ctx, nil, "lru_crawler", "sleep", number(pause.Microseconds()))
}

// SetCrawlerLimit sets how many items of each class a run of Crawl looks at; 0 is
// all.
func (s *Server) SetCrawlerLimit(ctx context.Context, items uint32) error {
	return s.do(ctx, nil, "lru_crawler", "tocrawl", number(int64(items)))
}

const (
	maxClass  = 255 // a uint8 in the server
	maxFactor = 1e6
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// seconds rounds up.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
