package ring

import (
	"bytes"
	"hash/crc32"
	"os"
	"unsafe"

	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// fakeSock is the kernel's side of a connection. The engine's descriptor is one
// end of a real socket pair, over which no byte goes: it is there to be shut
// down and closed. Guarded by fakeKernel.mu.
type fakeSock struct {
	k     *fakeKernel
	fd    int32
	other *os.File // the pair's other end, by which we notice a shutdown

	owner      uint64 // slot and generation, learnt from the first receive
	recv, send *fakeOp
	outbox     []byte // sent, not yet read by the peer
	room       int    // how much outbox takes
	inbox      []byte // from the peer, not yet received
	eof        bool   // the peer has closed
	reset      bool   // or worse
	shut       bool   // by our side
	kick       chan struct{}
}

// fakeOp is an operation in the kernel, which owns mem until it is posted.
type fakeOp struct {
	userData uint64
	mem      []byte   // of a receive
	pieces   [][]byte // of a send
	sum      uint32   // of those
	all      bool     // a receive that completes when it is full
	got      int      // of it
}

const (
	poison     = 0xdb
	poisonHead = 2048 // how much of a receive's memory is poisoned, at its start and its end
	poisonTail = 64
	ownerMask  = 1<<56 - 1
)

// pieces are what a message consists of.
func pieces(m *unix.Msghdr) (list [][]byte) {
	for _, v := range unsafe.Slice(m.Iov, m.Iovlen) {
		list = append(list, unsafe.Slice(v.Base, v.Len))
	}
	return list
}

// bytes is what a send is about to send.
func (op *fakeOp) bytes() []byte { return bytes.Join(op.pieces, nil) }

// startSend takes a send in. With MSG_DONTWAIT it completes here.
func (f *fakeSock) startSend(s sqeView, pieces [][]byte) {
	k := f.k
	op := &fakeOp{userData: s.userData, pieces: pieces}
	op.sum = crc32.ChecksumIEEE(op.bytes())
	switch {
	case f.send != nil:
		k.complain("two sends on one socket")
	case s.userData&ownerMask != f.owner:
		k.complain("send of %x on the socket of %x", s.userData, f.owner)
	case len(op.bytes()) == 0 || s.opFlags&unix.MSG_NOSIGNAL == 0:
		k.complain("send of %d bytes with flags %#x", s.len, s.opFlags)
	}
	f.send = op
	prompt := s.opFlags&unix.MSG_DONTWAIT != 0
	switch {
	case f.shut || f.reset:
		f.endSend(f.sendError())
	case k.chance(k.odds.sendAgain):
		k.faults["sendAgain"]++
		errs := []unix.Errno{unix.EINTR, unix.ECANCELED, unix.EAGAIN}
		if !prompt {
			errs = errs[:2]
		}
		f.endSend(-int32(errs[k.rnd.IntN(len(errs))]))
	case f.room > len(f.outbox) && (prompt || !k.chance(k.odds.late)):
		f.move()
	case prompt:
		f.endSend(-int32(unix.EAGAIN))
	}
	f.poke()
}

// move has the peer's side take some of the send in flight.
func (f *fakeSock) move() {
	k, op := f.k, f.send
	all := op.bytes()
	n := min(len(all), f.room-len(f.outbox))
	if k.chance(k.odds.shortSend) {
		k.faults["shortSend"]++
		n = 1 + k.rnd.IntN(n)
	}
	if crc32.ChecksumIEEE(all) != op.sum {
		k.complain("a send's buffer was written to while the kernel had it")
	}
	f.outbox = append(f.outbox, all[:n]...)
	f.endSend(int32(n))
	f.poke()
}

// sendError is how a send ends on a dead socket. Cancelled, it may have moved
// bytes all the same; nobody must try it again.
func (f *fakeSock) sendError() int32 {
	switch f.k.rnd.IntN(3) {
	case 0:
		if f.shut {
			all := f.send.bytes()
			f.outbox = append(f.outbox, all[:f.k.rnd.IntN(len(all)+1)]...)
			return -int32(unix.ECANCELED)
		}
		return -int32(unix.ECONNRESET)
	default:
		return -int32(unix.EPIPE)
	}
}

func (f *fakeSock) endSend(res int32) {
	op := f.send
	f.send = nil
	f.k.post(op.userData, res)
}

// startRecv takes a receive in.
func (f *fakeSock) startRecv(s sqeView) {
	k := f.k
	op := &fakeOp{userData: s.userData, mem: unsafe.Slice((*byte)(s.addr), s.len)}
	if f.owner == 0 {
		f.owner = s.userData & ownerMask
		if k.owners[f.owner] {
			k.complain("slot and generation %x are used twice", f.owner)
		}
		k.owners[f.owner] = true
	}
	slot := int(s.userData >> 32 & 0xffffff)
	off := slot % slabBuffers * transport.WindowSize
	base := uintptr(unsafe.Pointer(&k.arena.slabs[slot/slabBuffers][off]))
	at := uintptr(s.addr)
	switch {
	case f.recv != nil:
		k.complain("two receives on one socket")
	case s.userData&ownerMask != f.owner:
		k.complain("receive of %x on the socket of %x", s.userData, f.owner)
	case k.lentAt(op.mem) && s.opcode == uring.IORING_OP_RECV:
		k.faults["landing"]++
		op.all = s.opFlags&unix.MSG_WAITALL != 0
	case at < base || at+uintptr(s.len) != base+transport.WindowSize || s.opFlags != 0:
		k.complain("receive into [%#x,+%d) with flags %#x, slot %d's buffer is at %#x", at, s.len, s.opFlags, slot, base)
	case s.opcode == uring.IORING_OP_READ_FIXED && (int(s.bufIndex) != slot || !k.arena.registered[slot]):
		k.complain("READ_FIXED with buffer %d for slot %d", s.bufIndex, slot)
	}
	if s.opcode == uring.IORING_OP_READ_FIXED {
		k.faults["readFixed"]++ // no fault, but a path worth counting
	}
	fill(op.mem[:min(poisonHead, len(op.mem))])
	fill(op.mem[max(0, len(op.mem)-poisonTail):])
	f.recv = op
	if f.shut || !k.chance(k.odds.late) {
		f.receiveAll()
	}
	f.poke()
}

// receive completes the receive in flight if there is anything to tell.
func (f *fakeSock) receive() {
	k, op := f.k, f.recv
	n, end := 0, int32(0)
	free := op.mem[op.got:]
	switch {
	case k.chance(k.odds.recvAgain):
		k.faults["recvAgain"]++
		end = -int32([]unix.Errno{unix.EINTR, unix.ECANCELED, unix.EAGAIN}[k.rnd.IntN(3)])
	case f.reset:
		end = -int32(unix.ECONNRESET)
	case len(f.inbox) > 0 && !(f.shut && k.rnd.IntN(2) == 0): // data may win over a shutdown
		n = min(len(f.inbox), len(free))
		if k.chance(k.odds.oneByte) {
			n = 1
		} else if k.chance(k.odds.shortRecv) {
			n = 1 + k.rnd.IntN(n)
		}
	case !f.eof && !f.shut:
		return
	}
	if !clean(free[:min(poisonHead, len(free))]) || !clean(free[max(0, len(free)-poisonTail):]) {
		k.complain("a window was written to while the kernel had it")
	}
	if n > 0 {
		copy(free, f.inbox[:n])
		f.inbox = f.inbox[n:]
		op.got += n
		if op.all && op.got < len(op.mem) {
			fill(free[n:min(n+poisonHead, len(free))])
			return
		}
		end = int32(op.got)
	}
	f.endRecv(end)
}

// endRecv completes the receive in flight, with the count of what has come if
// there is any.
func (f *fakeSock) endRecv(res int32) {
	op := f.recv
	f.recv = nil
	if op.got > 0 {
		res = int32(op.got)
	}
	f.k.post(op.userData, res)
}

// progress completes what can be completed.
func (f *fakeSock) progress() {
	if f.send != nil {
		if f.shut || f.reset {
			f.endSend(f.sendError())
		} else if f.room > len(f.outbox) {
			f.move()
		}
	}
	f.receiveAll()
}

// receiveAll is receive, again and again for one that waits until it is full.
func (f *fakeSock) receiveAll() {
	for left := -1; f.recv != nil && left != len(f.inbox); {
		left = len(f.inbox)
		f.receive()
	}
}

// poke wakes the peer.
func (f *fakeSock) poke() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = poison
	}
}

var poisoned = bytes.Repeat([]byte{poison}, poisonHead)

func clean(b []byte) bool { return bytes.Equal(b, poisoned[:len(b)]) }
