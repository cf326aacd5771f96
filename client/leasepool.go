package client

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// block is memory to be lent, for one value at a time. It has one owner:
//
//   - the pool;
//   - an op, from the first byte of a value on. The driver writes to it with the
//     op's mu held, and the kernel while the value lands;
//   - a hit of a GetMultiLease, which nobody writes to any more. It is the op's,
//     and once collected the multi's until it is yielded;
//   - the caller, with the Lease, until its term ends;
//   - the quarantine, see Config.PoisonLeases.
//
// An op passes it on when it is done. If no caller wants it then, because the call
// has failed, the op gives it back: when it is put back itself, or when it is
// abandoned, which waits until neither driver nor kernel writes to it.
type block struct {
	home  *lender
	mem   []byte // as large as its class
	class int    // unpooled: exactly as large as its value
	term  atomic.Uint64
}

// The classes of sizes: four to each doubling, so that at most a fifth of a block
// is unused, from 1 KiB, below which there is little to save, to 16 MiB. A larger one
// is too much to keep around.
const (
	minClassBits = 10
	maxClassBits = 24
	classes      = 4*(maxClassBits-minClassBits) + 1
	unpooled     = -1
)

// classOf returns the smallest class for a value and what its blocks hold.
func classOf(size int) (class, room int) {
	switch {
	case size <= 1<<minClassBits:
		return 0, 1 << minClassBits
	case size > 1<<maxClassBits:
		return unpooled, size
	}
	n := uint(size - 1)
	doubling := bits.Len(n) - 1 // 1<<doubling < size <= 2<<doubling
	quarter := int(n>>(doubling-2)) & 3
	return 4*(doubling-minClassBits) + quarter + 1, (4 + quarter + 1) << (doubling - 2)
}

// lender has a client's blocks. What is not lent is the collector's after two of its
// cycles, as sync.Pool has it, so the pools need no bound: they hold no more than
// has been lent at one time since.
type lender struct {
	pools [classes]sync.Pool // of *block: it has the memory's header, so that putting it allocates nothing
	ward  *quarantine        // nil without Config.PoisonLeases
}

// lend returns a block for a value. What is in it is anything.
func (l *lender) lend(size int) *block {
	class, room := classOf(size)
	if class != unpooled {
		if b, ok := l.pools[class].Get().(*block); ok {
			return b
		}
	}
	return &block{home: l, mem: make([]byte, room), class: class}
}

// release takes a block back from a caller.
func (l *lender) release(b *block) {
	if l.ward != nil {
		l.ward.admit(b)
		return
	}
	l.put(b)
}

// put takes a block back that nobody refers to.
func (l *lender) put(b *block) {
	if b.class == unpooled {
		b.mem = nil // a released Lease would keep it alive
		return
	}
	l.pools[b.class].Put(b)
}
