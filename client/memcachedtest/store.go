package memcachedtest

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

// thirtyDays is the longest relative expiry time in seconds; larger numbers are
// Unix times.
const thirtyDays = 60 * 60 * 24 * 30

// item is one entry. Its times are in seconds on the store's clock, where zero
// means never.
type item struct {
	value     []byte
	flags     uint32
	exptime   int64
	time      int64 // last access as memcached counts it
	cas       uint64
	binary    bool // stored under a base64 key
	stale     bool
	tokenSent bool
	fetched   bool
	active    bool
}

// store is the memory of an in-process server. The fields behind mu are only
// touched while a command runs, which holds it throughout.
type store struct {
	mu        sync.Mutex
	items     map[string]*item
	limit     int // item size in bytes, memcached's overhead included
	started   time.Time
	lastCAS   uint64
	flushTime int64 // items last used up to then are gone; zero if none
	counts    counts
	release   int // 18 is memcached 1.6.18: what newer ones do, only they do
}

type counts struct {
	gets, getHits, sets, totalItems uint64
}

func newStore(itemLimit int, version string) *store {
	return &store{items: make(map[string]*item), limit: itemLimit, started: time.Now(), release: releaseOf(version)}
}

// now is memcached's clock, which ticks once a second. It starts at 2 so that
// an expiry time of 1 has always passed.
func (s *store) now() int64 { return int64(time.Since(s.started)/time.Second) + 2 }

// expiry turns a command's expiry time into one on the store's clock, as
// realtime() and EXPTIME_TO_POSITIVE_TIME in memcached.h do.
func (s *store) expiry(t int32) int64 {
	switch {
	case t == 0:
		return 0
	case t < 0:
		return 1
	case t > thirtyDays:
		return max(int64(t)-s.started.Unix()+2, 1)
	default:
		return int64(t) + s.now()
	}
}

func (s *store) nextCAS() uint64 {
	s.lastCAS++
	return s.lastCAS
}

// get finds an item that is alive.
func (s *store) get(key string) *item {
	it := s.items[key]
	if it == nil {
		return nil
	}
	now := s.now()
	flushed := s.flushTime != 0 && s.flushTime <= now && it.time <= s.flushTime
	if flushed || (it.exptime != 0 && it.exptime <= now) {
		delete(s.items, key)
		return nil
	}
	return it
}

// bump notes a fetch. memcached updates the time of last access when an item
// becomes active, on its second fetch, and then no more (do_item_bump).
func (s *store) bump(it *item) {
	switch {
	case it.active:
	case it.fetched:
		it.active = true
		it.time = s.now()
	default:
		it.fetched = true
	}
}

// link stores an item as a new one. Its CAS is the next, unless one was chosen.
func (s *store) link(key string, it *item, chosen *uint64) {
	if chosen != nil {
		it.cas = *chosen
	} else {
		it.cas = s.nextCAS()
	}
	it.time = s.now()
	s.items[key] = it
	s.counts.totalItems++
}

// fits tells whether an item is within the limit, with what memcached adds on a
// 64-bit machine: a header of 48 bytes, the key and its NUL, the CAS value, and
// flags only if there are any. length includes the final newline.
func (s *store) fits(key string, flags uint32, length int) bool {
	size := 48 + len(key) + 1 + 8 + length
	if flags != 0 {
		size += 4
	}
	return size <= s.limit
}

// flush drops everything, now or in some seconds.
func (s *store) flush(after int32) {
	if after <= 0 {
		clear(s.items)
		s.flushTime = 0
		s.nextCAS()
		return
	}
	s.flushTime = s.expiry(after) - 1
}

type mode byte

const (
	modeSet        mode = 'S'
	modeAdd        mode = 'E'
	modeAppend     mode = 'A'
	modePrepend    mode = 'P'
	modeReplace    mode = 'R'
	modeCAS        mode = 'c' // not on the wire: set or replace with a CAS value
	modeAppendViv  mode = 'a' // likewise: append with N, where that is known
	modePrependViv mode = 'p'
)

type outcome int

const (
	stored outcome = iota
	exists
	notFound
	notStored
)

// put is memcached's do_store_item. it.cas holds the CAS value asked for, chosen the
// one that the item is to get, if not nil.
func (s *store) put(key string, it *item, m mode, invalidate bool, chosen *uint64) outcome {
	s.counts.sets++
	old := s.get(key)
	if old == nil {
		switch m {
		case modeAdd, modeSet, modeAppendViv, modePrependViv:
			s.link(key, it, chosen)
			return stored
		case modeCAS:
			return notFound
		default:
			return notStored
		}
	}
	switch m {
	case modeAdd:
		return notStored
	case modeCAS:
		switch {
		case it.cas != 0 && it.cas == old.cas:
		case it.cas != 0 && invalidate && it.cas < old.cas:
			it.exptime, it.stale, it.tokenSent = old.exptime, true, old.tokenSent
		default:
			return exists
		}
	case modeAppend, modePrepend, modeAppendViv, modePrependViv:
		if it.cas != 0 && it.cas != old.cas {
			return exists
		}
		whole := bytes.Join([][]byte{old.value, it.value}, nil)
		if m == modePrepend || m == modePrependViv {
			whole = bytes.Join([][]byte{it.value, old.value}, nil)
		}
		if !s.fits(key, old.flags, len(whole)+2) {
			return notStored
		}
		*it = item{value: whole, flags: old.flags, exptime: old.exptime}
	}
	s.link(key, it, chosen)
	return stored
}

type deltaOutcome int

const (
	deltaOK deltaOutcome = iota
	deltaMiss
	deltaExists
	deltaNotNumeric
)

// delta is memcached's do_add_delta. On success it returns the item that
// memcached goes on with, which is the replaced one if the number grew: an
// expiry time set there is lost. The padding of a number that became shorter is
// stored; number is without.
func (s *store) delta(key string, incr bool, by, cas uint64) (it *item, number string, _ deltaOutcome) {
	it = s.get(key)
	if it == nil {
		return nil, "", deltaMiss
	}
	if len(it.value) == 0 {
		return nil, "", deltaNotNumeric
	}
	if cas != 0 && cas != it.cas {
		return nil, "", deltaExists
	}
	n, ok := cUint(string(it.value))
	if !ok {
		return nil, "", deltaNotNumeric
	}
	switch {
	case incr:
		n += by
	case by > n:
		n = 0
	default:
		n -= by
	}
	number = strconv.FormatUint(n, 10)
	if pad := len(it.value) - len(number); pad >= 0 {
		it.cas = s.nextCAS()
		it.value = append([]byte(number), bytes.Repeat([]byte{' '}, pad)...)
		it.time = s.now()
		return it, number, deltaOK
	}
	s.link(key, &item{value: []byte(number), flags: it.flags, exptime: it.exptime}, nil)
	it.cas = s.lastCAS
	return it, number, deltaOK
}
