// Package transport is the seam between the client and its I/O engines.
//
// An [Engine] moves bytes; it knows nothing of memcached. No goroutine of an
// engine sits between a caller and its reply: a caller queues its request with
// [Conn.Send] and then waits in [Engine.Wait], where it drives the I/O of every
// connection it can help with, its own and other callers'. Bytes that arrive
// are given to the connection's [Handler] by whichever goroutine happens to be
// driving.
//
// Packages ring and fallback are engines, and package secure makes one of another's
// connections with TLS on them. Package transporttest has the suite that all pass.
package transport

import (
	"context"
	"errors"
	"time"
)

// Errors that engines return, alone or wrapped. They match with [errors.Is].
var (
	// ErrClosed: the connection or the engine was closed by our side.
	ErrClosed = errors.New("closed")
	// ErrTimeout: the deadline given to [Engine.Wait] has passed.
	ErrTimeout = errors.New("deadline exceeded")
	// ErrCanceled: the done channel given to [Engine.Wait] was closed.
	ErrCanceled = errors.New("canceled")
	// ErrBacklog: the connection has more unsent bytes than [MaxBacklog].
	ErrBacklog = errors.New("send backlog is full")
	// ErrEOF: the server closed the connection.
	ErrEOF = errors.New("closed by server")
	// ErrStuck: the handler consumed nothing of a full window.
	ErrStuck = errors.New("reply line does not fit the receive buffer")
)

const (
	// WindowSize is the size of a connection's receive buffer in bytes, and so
	// the longest window that a [Handler] is ever given.
	WindowSize = 64 << 10

	// MaxBacklog bounds the bytes queued on a connection and not yet taken by
	// the kernel. A Send that finds more than this queued is refused with
	// [ErrBacklog], so a stalled server costs a bounded amount of memory.
	MaxBacklog = 16 << 20
)

// Engine makes connections and lets callers wait on them. All methods may be
// called from any goroutine.
type Engine interface {
	// Dial connects to addr and delivers the connection's bytes to h from then
	// on, perhaps before it has returned. ctx bounds the dial alone. If it fails,
	// h is not called.
	Dial(ctx context.Context, network, addr string, h Handler) (Conn, error)

	// Wait drives I/O until w is signalled, and takes the signal: the next Wait
	// needs a new one. It gives up with [ErrTimeout] at deadline (the zero Time
	// is never) or with [ErrCanceled] when done is closed (nil is never), a few
	// milliseconds late at most. A signal that is already there wins over
	// both. on lists the connections, all of this engine, that may signal w; there
	// may be none.
	Wait(w *Waiter, on []Conn, deadline time.Time, done <-chan struct{}) error

	// Wake signals w from outside of a Handler, also while its caller drives,
	// which [Waiter.Signal] alone would not bring to its notice.
	Wake(w *Waiter)

	// Close closes every connection and returns once each has made its last
	// Handler call and the kernel holds no buffer of ours. Idempotent.
	Close() error
}

// Conn is one connection. All methods may be called from any goroutine, and
// Close also from a Handler.
type Conn interface {
	// Send queues head, body and tail (each may be empty) contiguously and
	// copies them before it returns, but for a body that comes with a loan: that is
	// referred to until the loan is over, unless the connection can't, and then
	// it is over at once. Possibly none of it reaches the kernel before the next Wait
	// on this engine, or before another caller drives. queued is the number of bytes
	// that now wait to be taken by the kernel, these included. It fails, and queues
	// nothing, with [ErrBacklog], or with what the connection has ended with.
	Send(head, body, tail []byte, loan *Loan) (queued int, err error)

	// Reclaim has a loan of this connection end: what has not been sent is copied
	// now. It returns false if the kernel is using the memory; it is asked to stop,
	// and w is signalled when it has, provided that somebody drives. The lender
	// waits for that, on this connection alone, and calls Reclaim again. It does so
	// after the connection's end as well.
	Reclaim(loan *Loan, w *Waiter) (over bool)

	// Retract takes back size bytes that were queued, if none of them has been
	// given to the kernel, or was encrypted; after is the number of bytes queued
	// behind them. It reports whether it did. The caller orders Send and Retract
	// itself.
	Retract(size, after int) bool

	// Divert has a landing ended early, if there is one: Handler.Landed or
	// Handler.Closed follows soon, provided that somebody drives, and the memory is
	// the handler's again. Not callable from a Handler, which has only to return
	// no memory to the same effect.
	Divert()

	// Ended reports whether the server has ended the connection, as far as the
	// system knows by now. It makes a system call and does not wait. A connection
	// that is not the system's own has not ended as long as no read has said so.
	Ended() bool

	// Close interrupts the connection's I/O at once and returns without
	// waiting; Handler.Closed follows, with [ErrClosed] if nothing else was
	// wrong before. Idempotent.
	Close() error
}

// A Scrubber is a Conn that keeps memory between sends: those that copy. Scrub
// overwrites what has left of it, or will have it overwritten when it has, after
// something secret was sent.
type Scrubber interface{ Scrub() }

// Handler receives a connection's bytes and its end. Its calls never overlap
// and come from whichever goroutine is driving, so they must be short and must
// not wait for anything: other callers' replies are behind them.
type Handler interface {
	// Received is given all bytes that arrived and were not used yet, and
	// returns how many of them it has used. window belongs to the engine and
	// is valid only during the call. Unused bytes are given again, in front of
	// what arrives later. An error closes the connection with that error.
	//
	// A handler that has used all of the window may have the bytes behind it
	// land in memory of its own, without passing through a window: into is where
	// the next len(into) bytes go. That memory is the engine's, and the kernel's,
	// until the next call, which is Landed or Closed.
	Received(window []byte) (used int, into []byte, err error)

	// Landed says that the next n bytes have come to the front of the memory
	// that the last call has returned, which is the handler's again. n may be
	// anything from 0, after a [Conn.Divert], to all of it. As from Received, into
	// is where the next bytes are to land, usually the rest; empty is the window.
	Landed(n int) (into []byte, err error)

	// Closed is the last call, made exactly once, after the last Received.
	Closed(err error)
}

// Counters are an engine's totals since it was made.
type Counters struct {
	Enters    uint64 // system calls made for I/O, as far as the engine makes them itself
	Handovers uint64 // times that a leaving driver promoted a waiting caller
	BytesIn   uint64 // as they cross the network: encrypted ones, where there is TLS
	BytesOut  uint64
	Conns     int64 // connections open now
}
