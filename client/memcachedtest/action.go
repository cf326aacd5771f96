package memcachedtest

import (
	"slices"
	"time"
)

// Action is what the server does with one request. Start with [Answer] and add
// faults; each method returns a changed copy:
//
//	Answer().Delay(time.Second)                // late, but in order
//	Answer().WrongKey().Chunks(1)              // byte by byte, and wrong
//	Answer().CutAt(10).Reset()                 // ten bytes, then a reset
//	ErrorLine("SERVER_ERROR out of memory").Twice()
//
// The faults apply in this order, whatever the order of the calls: the reply
// is made (Instead, Unexecuted) and falsified (WrongOpaque, WrongKey, Edit,
// Twice), waits (Stall, Delay, Late, Swap), and is written (CutAt, Truncate,
// Chunks, Gap); then the connection ends, if it is to (Close, HalfClose,
// Reset).
//
// While a reply waits, the server goes on reading: requests behind it are
// recorded and carried out, and their replies queue up behind it.
//
// The zero Action is Answer().
type Action struct {
	unexecuted bool
	instead    []byte
	hasInstead bool
	edits      []func(reply []byte) []byte
	extra      int // copies beyond the first

	stall   <-chan struct{}
	stallAt int
	delay   time.Duration
	late    bool
	swap    bool

	truncated  bool
	truncateAt int
	chunks     []int
	gap        time.Duration
	end        ending
}

// ending is what becomes of the connection after a reply.
type ending int

const (
	keepOpen ending = iota
	closeConn
	halfCloseConn
	resetConn
)

// Answer is the true answer, at once.
func Answer() Action { return Action{} }

// Missing carries the request out and never answers it. The next reply comes
// as if it were this one's.
func Missing() Action { return Answer().Instead(nil) }

// ErrorLine answers a line such as "SERVER_ERROR busy" and does not carry the
// request out. The newline is added.
func ErrorLine(line string) Action {
	return Answer().Unexecuted().Instead([]byte(line + "\r\n"))
}

// Garbage answers a line which is in no memcached's language.
func Garbage() Action { return Answer().Instead([]byte("\x01garbage \xff VA 1 HD\r\n")) }

// Unexecuted does not carry the request out. Unless Instead says otherwise, it
// isn't answered either.
func (a Action) Unexecuted() Action {
	a.unexecuted = true
	return a
}

// Instead sends these bytes as they are in place of the answer. The request is
// carried out nonetheless.
func (a Action) Instead(raw []byte) Action {
	a.instead, a.hasInstead = slices.Clone(raw), true
	return a
}

// Edit changes the reply, which the function may modify, by code. Several edits
// follow one another.
func (a Action) Edit(edit func(reply []byte) []byte) Action {
	a.edits = append(slices.Clip(a.edits), edit)
	return a
}

// WrongOpaque changes a byte of the reply's opaque. A reply without one stays
// as it is.
func (a Action) WrongOpaque() Action { return a.Edit(wrongOpaque) }

// WrongKey changes a byte of the key in the reply, which is the first key of a
// classic get's. A reply without one stays as it is.
func (a Action) WrongKey() Action { return a.Edit(wrongKey) }

// Twice sends the reply twice.
func (a Action) Twice() Action {
	a.extra++
	return a
}

// Delay sends the reply no sooner than d after its request was read, and those
// behind it not before it. Delays of requests that came together overlap, as on
// a slow network.
func (a Action) Delay(d time.Duration) Action {
	a.delay = d
	return a
}

// Late sends the reply d after its request was read and lets those behind it
// overtake it, which memcached never does.
func (a Action) Late(d time.Duration) Action {
	a.delay, a.late = d, true
	return a
}

// Stall sends nothing more on the connection until release is closed. A nil
// release stalls until the connection ends.
func (a Action) Stall(release <-chan struct{}) Action { return a.StallAt(0, release) }

// StallAt sends n bytes of the reply, and nothing more on the connection until
// release is closed.
func (a Action) StallAt(n int, release <-chan struct{}) Action {
	if release == nil {
		release = make(chan struct{})
	}
	a.stall, a.stallAt = release, max(n, 0)
	return a
}

// Swap sends the reply behind the next one. If no other follows, it is never
// sent.
func (a Action) Swap() Action {
	a.swap = true
	return a
}

// Truncate sends only the first n bytes of the reply, or all but the last -n,
// and goes on as if nothing was amiss.
func (a Action) Truncate(n int) Action {
	a.truncated, a.truncateAt = true, n
	return a
}

// CutAt sends the first n bytes of the reply, or all but the last -n, and
// closes the connection. To end it in another way add HalfClose or Reset.
func (a Action) CutAt(n int) Action {
	a = a.Truncate(n)
	if a.end == keepOpen {
		a.end = closeConn
	}
	return a
}

// Chunks writes the reply in pieces of these sizes, which are repeated until
// all is sent: Chunks(1) is byte by byte. Each is a write of its own, but the
// kernel may join them in a client that reads slowly; see Gap.
func (a Action) Chunks(sizes ...int) Action {
	a.chunks = slices.Clone(sizes)
	return a
}

// Gap waits between the chunks of a reply.
func (a Action) Gap(d time.Duration) Action {
	a.gap = d
	return a
}

// Close closes the connection behind the reply.
func (a Action) Close() Action {
	a.end = closeConn
	return a
}

// HalfClose sends a FIN behind the reply and goes on reading, but answers
// nothing more. A [net.Pipe] has no half, so there it closes.
func (a Action) HalfClose() Action {
	a.end = halfCloseConn
	return a
}

// Reset ends the connection with a TCP reset. On other networks it closes.
func (a Action) Reset() Action {
	a.end = resetConn
	return a
}
