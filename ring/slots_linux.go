package ring

import "sync/atomic"

const slotChunk = 256

// slotTable maps the slot in a completion's user data to its connection. The
// driver looks up without a lock; changes are made under Engine.mu.
//
// A slot is used again only after the terminal completion of everything its
// last connection had in the kernel, so a completion cannot meet a stranger.
// The generation in the user data checks just that.
type slotTable struct {
	chunks [maxBuffers / slotChunk]atomic.Pointer[[slotChunk]slot]
	free   []int // slots given back, used again last in first out
	top    int   // slots ever used
	used   int
}

type slot struct {
	conn atomic.Pointer[conn]
	gen  uint32
}

func (t *slotTable) at(i int) *slot {
	if i >= maxBuffers {
		return nil
	}
	c := t.chunks[i/slotChunk].Load()
	if c == nil {
		return nil
	}
	return &c[i%slotChunk]
}

// take reserves a slot, or returns -1 if all are taken.
func (t *slotTable) take() int {
	i := t.top
	if n := len(t.free); n > 0 {
		i = t.free[n-1]
		t.free = t.free[:n-1]
	} else if t.top == maxBuffers {
		return -1
	} else {
		t.top++
		if t.chunks[i/slotChunk].Load() == nil {
			t.chunks[i/slotChunk].Store(new([slotChunk]slot))
		}
	}
	t.used++
	return i
}

// name gives c, which has taken a slot, its generation there.
func (t *slotTable) name(c *conn) {
	s := t.at(c.slot)
	s.gen++
	c.gen = s.gen
}

// put makes c findable by its completions. The driver may touch it from then
// on, so this comes after everything that others do to it.
func (t *slotTable) put(c *conn) { t.at(c.slot).conn.Store(c) }

// give returns a slot that take reserved. If it is not reusable, the slot and
// its buffer stay out of use for ever.
func (t *slotTable) give(i int, reusable bool) {
	t.at(i).conn.Store(nil)
	if reusable {
		t.free = append(t.free, i)
	}
	t.used--
}

func (t *slotTable) each(f func(*conn)) {
	for i := range t.top {
		if c := t.at(i).conn.Load(); c != nil {
			f(c)
		}
	}
}

// What a completion belongs to: the kind of operation, the slot and the slot's
// generation.
type opKind uint8

const (
	opNone opKind = iota // a NOP: wakes whoever waits for completions
	opRecv
	opSend
	opCancelRecv
	opCancelSend
)

func (c *conn) userData(k opKind) uint64 {
	return uint64(k)<<56 | uint64(c.slot)<<32 | uint64(c.gen)
}

// owner finds the connection of a completion, or nil if it has none.
func (t *slotTable) owner(userData uint64) (*conn, opKind) {
	k := opKind(userData >> 56)
	if k == opNone {
		return nil, k
	}
	s := t.at(int(userData >> 32 & 0xffffff))
	if s == nil {
		return nil, k
	}
	c := s.conn.Load()
	if c == nil || c.gen != uint32(userData) {
		return nil, k
	}
	return c, k
}
