package transport

import (
	"bytes"
	"slices"
	"sync/atomic"
)

// A Loan is memory that a [Conn.Send] refers to instead of copying it. The zero
// Loan is over. It must not be used for another Send before it is over again, which
// it is when the memory has been sent, or [Conn.Reclaim] says so; a connection that
// ends need not end it.
type Loan struct {
	out atomic.Bool
	w   *Waiter // wants to know of its end; guarded as the Outbox is
}

// Over reports whether nobody refers to the memory any more.
func (l *Loan) Over() bool { return !l.out.Load() }

// end ends the loan and tells who wants to know. The signal comes first: once the
// loan is over, l and the waiter may be in use for something else.
func (l *Loan) end() {
	if w := l.w; w != nil {
		l.w = nil
		w.Signal()
	}
	l.out.Store(false)
}

// An Outbox is bytes on their way out, for engines: most of them copied together,
// with lent bodies in between. The zero Outbox is empty. It is not safe for
// concurrent use.
type Outbox struct {
	own   []byte
	at    int    // own bytes before it have left
	lent  []lent // not left, in order
	size  int    // of all that has not left
	scrub bool   // what has left is to be overwritten
}

// lent is a body that belongs between own[:at] and own[at:].
type lent struct {
	at   int
	body []byte // what has not left of it
	loan *Loan  // nil: body was lent and is a copy
}

// end ends the loan, if it has not been over before.
func (l *lent) end() {
	if l.loan != nil {
		l.loan.end()
		l.loan = nil
	}
}

func (l *lent) wanted() bool { return l.loan != nil && l.loan.w != nil }

// Len is how many bytes have not left.
func (b *Outbox) Len() int { return b.size }

// Cap is how much memory the Outbox keeps, in bytes.
func (b *Outbox) Cap() int { return cap(b.own) }

// Append adds a request. It copies the body if loan is nil, and else refers to it
// until it has left, or [Outbox.Keep] has copied it.
func (b *Outbox) Append(head, body, tail []byte, loan *Loan) {
	b.size += len(head) + len(body) + len(tail)
	b.own = append(b.own, head...)
	if loan == nil || len(body) == 0 {
		b.own = append(b.own, body...)
	} else {
		loan.out.Store(true)
		b.lent = append(b.lent, lent{len(b.own), body, loan})
	}
	b.own = append(b.own, tail...)
}

// Retract takes a whole request of size bytes out, behind which are after more. It
// reports whether all of it is still there.
func (b *Outbox) Retract(size, after int) bool {
	from, to := b.size-after-size, b.size-after
	if size <= 0 || after < 0 || from < 0 {
		return false
	}
	// What is lent before from is no part of own, and so on.
	first, last, own := 0, 0, 0
	lentBefore, lentInside := 0, 0
	for i, l := range b.lent {
		if l.at-b.at+own >= to { // own counts the bytes lent so far
			break
		}
		if l.at-b.at+own < from {
			first, lentBefore = i+1, lentBefore+len(l.body)
		} else {
			lentInside += len(l.body)
		}
		last = i + 1
		own += len(l.body)
	}
	begin := b.at + from - lentBefore
	end := begin + size - lentInside
	for i := first; i < last; i++ {
		b.lent[i].end()
	}
	b.lent = slices.Delete(b.lent, first, last)
	b.own = slices.Delete(b.own, begin, end)
	for i := first; i < len(b.lent); i++ {
		b.lent[i].at -= end - begin
	}
	b.size -= size
	return true
}

// Next returns the bytes that leave next if they are in one piece: all of them, or
// nil if something is lent; see [Outbox.Pieces].
func (b *Outbox) Next() []byte {
	if len(b.lent) > 0 {
		return nil
	}
	return b.own[b.at:]
}

// Pieces appends what leaves next to list, in order: no more than most bytes, in no
// more than cap(list) pieces.
func (b *Outbox) Pieces(list [][]byte, most int) [][]byte {
	at := b.at
	add := func(p []byte) {
		if p = p[:min(len(p), most)]; len(p) > 0 && len(list) < cap(list) {
			list = append(list, p)
			most -= len(p)
		} else if len(p) > 0 {
			most = 0 // no gaps
		}
	}
	for _, l := range b.lent {
		add(b.own[at:l.at])
		add(l.body)
		at = l.at
	}
	add(b.own[at:])
	return list
}

// Left notes that the next n bytes have left.
func (b *Outbox) Left(n int) {
	b.size -= n
	for n > 0 && len(b.lent) > 0 {
		l := &b.lent[0]
		if gap := l.at - b.at; n < gap {
			b.at += n
			return
		} else if n -= gap; n < len(l.body) {
			b.at, l.body = l.at, l.body[n:]
			return
		}
		b.at, n = l.at, n-len(l.body)
		l.end()
		b.lent = slices.Delete(b.lent, 0, 1)
	}
	b.at += n
}

// Keep ends a loan by copying what has not left of its body, if it is here. Nobody
// may be reading what [Outbox.Next] or [Outbox.Pieces] have returned. The copy has
// memory of its own: to make room for it among the bytes that others have queued
// would take as long as those are many, and lenders come back for their bodies all
// at once, late, when a server stalls.
func (b *Outbox) Keep(loan *Loan) bool {
	for i := range b.lent {
		if l := &b.lent[i]; l.loan == loan {
			l.keep()
			return true
		}
	}
	return false
}

func (l *lent) keep() {
	l.body = bytes.Clone(l.body)
	l.end()
}

// Want has w signalled at the end of the loan. It reports whether the loan is here.
func (b *Outbox) Want(loan *Loan, w *Waiter) bool {
	for _, l := range b.lent {
		if l.loan == loan {
			loan.w = w
			return true
		}
	}
	return false
}

// Wanted reports whether the end of any loan is wanted.
func (b *Outbox) Wanted() bool {
	for i := range b.lent {
		if b.lent[i].wanted() {
			return true
		}
	}
	return false
}

// KeepWanted ends the loans whose end is wanted, as Keep does.
func (b *Outbox) KeepWanted() {
	for i := range b.lent {
		if l := &b.lent[i]; l.wanted() {
			l.keep()
		}
	}
}

// Scrub overwrites what has left in the memory that is kept for the next requests: it
// was secret. If not all has left, Reset does it.
func (b *Outbox) Scrub() {
	if b.scrub = b.size > 0; !b.scrub {
		clear(b.own[:cap(b.own)])
	}
}

// Reset empties the Outbox. It ends all loans and keeps memory of up to most bytes
// for the next requests.
func (b *Outbox) Reset(most int) {
	if b.scrub {
		b.scrub = false
		clear(b.own[:cap(b.own)])
	}
	for i := range b.lent {
		b.lent[i].end()
	}
	clear(b.lent)
	b.lent, b.own, b.at, b.size = b.lent[:0], b.own[:0], 0, 0
	if cap(b.own) > most {
		b.own = nil
	}
}
