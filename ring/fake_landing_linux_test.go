package ring

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// Values that land in their handlers' memory, and the cancellations that end
// that early.

// lend notes that the kernel may write to mem from now on.
func (k *fakeKernel) lend(mem []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lent[uintptr(unsafe.Pointer(&mem[0]))] = len(mem)
}

// giveBack notes that it may not any more.
func (k *fakeKernel) giveBack(mem []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lent, uintptr(unsafe.Pointer(&mem[0])))
	for _, f := range k.all {
		if f.recv != nil && len(f.recv.mem) > 0 && unsafe.SliceData(f.recv.mem) == unsafe.SliceData(mem) {
			k.complain("the handler was given memory back that the kernel still has")
		}
	}
}

// lentAt reports whether mem is the front part of what was lent. mu is held.
func (k *fakeKernel) lentAt(mem []byte) bool {
	n, ok := k.lent[uintptr(unsafe.Pointer(unsafe.SliceData(mem)))]
	return ok && len(mem) <= n
}

// cancel carries an ASYNC_CANCEL out. mu is held.
func (k *fakeKernel) cancel(s sqeView) {
	target, res := uint64(uintptr(s.addr)), -int32(unix.ENOENT)
	if s.userData&ownerMask != target&ownerMask {
		k.complain("cancellation %x of %x", s.userData, target)
	}
	for _, f := range k.all {
		recv, send := f.recv != nil && f.recv.userData == target, f.send != nil && f.send.userData == target
		switch {
		case !recv && !send:
			continue
		case len(k.missed) > 0:
			res, k.missed = k.missed[0], k.missed[1:]
		case k.chance(k.odds.cancelAgain):
			k.faults["cancelAgain"]++
			if res = -int32([]unix.Errno{unix.EALREADY, unix.ENOENT, 0}[k.rnd.IntN(3)]); k.rnd.IntN(2) == 0 {
				f.progress() // data may win
			}
		case recv:
			k.faults["cancelRecv"]++
			res = 0
			f.endRecv(-int32(unix.ECANCELED))
		default:
			k.faults["cancelSend"]++
			res = 0
			f.endSend(-int32(unix.ECANCELED))
		}
		break
	}
	k.post(s.userData, res)
}

// cancelAll is what the kernel is asked for once enter has failed for good. There
// are no completions then.
func (k *fakeKernel) cancelAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = true
	for _, f := range k.all {
		f.recv, f.send = nil, nil
	}
}

// letsGo reports whether the kernel has nothing of a ring that is lost.
func (k *fakeKernel) letsGo() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cut
}

// landFrom is the size from which on a reply's payload lands, if it is one of
// those that do.
const landFrom = 500

// land has the rest of the current payload, or a part of it, land in memory of
// the request's own. mu is held.
func (c *fakeConn) land() []byte {
	q := c.cur
	if q == nil || q.leaving || q.seq%3 == 0 || c.left < landFrom || c.k == nil {
		return nil
	}
	n := c.left
	if q.seq%5 == 0 {
		n /= 2
	}
	q.mem = make([]byte, n)
	c.k.lend(q.mem)
	return q.mem
}

// Landed takes in what has come to the memory of the current request.
func (c *fakeConn) Landed(n int) (into []byte, err error) {
	defer c.enter()()
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.cur
	if q == nil || q.mem == nil || n > len(q.mem) {
		c.complain("%d bytes have landed out of turn", n)
		return nil, errEnough
	}
	c.k.giveBack(q.mem)
	if err = c.payload(q.mem[:n]); err != nil {
		return nil, err
	}
	q.mem = q.mem[n:]
	if c.left == 0 {
		q.mem = nil
		return nil, c.complete()
	}
	if q.leaving {
		q.mem = nil
		q.w.Signal()
		return nil, nil
	}
	if len(q.mem) == 0 {
		q.mem = nil
		return c.land(), nil
	}
	c.k.lend(q.mem)
	return q.mem, nil
}

// reclaim waits until nothing lands for q any more. mu is held, but not meanwhile.
func (c *fakeConn) reclaim(q *fakeReq, w *transport.Waiter) {
	for q.mem != nil && !q.done {
		q.leaving = true
		c.mu.Unlock()
		c.c.Divert()
		if err := c.c.e.Wait(w, nil, time.Time{}, nil); err == nil {
			c.score.reclaimed.Add(1)
		}
		c.mu.Lock()
		if q.done { // the signal may have stood for both
			w.Signal()
		}
	}
}

// reclaimBody waits until the engine refers to q's body no more, and writes to it.
func (c *fakeConn) reclaimBody(q *fakeReq, w *transport.Waiter) {
	if !q.loan.Over() {
		for !c.c.Reclaim(&q.loan, w) {
			if err := c.c.e.Wait(w, nil, time.Time{}, nil); err == nil {
				c.score.reclaimed.Add(1)
			}
		}
		w.Take()
		c.mu.Lock()
		if q.done && q.w != nil { // its signal was taken along
			w.Signal()
		}
		c.mu.Unlock()
	}
	fill(q.body)
}
