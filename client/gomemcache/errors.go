package memcache

import (
	"errors"
	"net"
	"os"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/internal/direct"
)

// Errors that calls return as they are, so that == finds them. Their texts are
// gomemcache's, since programs and alerts look for those too.
var (
	// ErrCacheMiss: the key has no item.
	ErrCacheMiss = errors.New("memcache: cache miss")
	// ErrCASConflict: the item has changed since the Get whose CasID was given to
	// CompareAndSwap. If there is no item any more, that is ErrCacheMiss.
	ErrCASConflict = errors.New("memcache: compare-and-swap conflict")
	// ErrNotStored: the condition of Add, Replace, Append or Prepend does not hold.
	ErrNotStored = errors.New("memcache: item not stored")
	// ErrServerError: the server answered with an error line. Unlike the others it
	// is found with errors.Is only; gomemcache has it, but never returns it.
	ErrServerError = errors.New("memcache: server error")
	// ErrNoStats is never returned, here or by gomemcache.
	ErrNoStats = errors.New("memcache: no statistics available")
	// ErrMalformedKey: the key is empty, has more than 250 bytes, those of
	// Config.KeyPrefix included, or a space or a control character among them. Nothing
	// was sent.
	ErrMalformedKey = errors.New("malformed: key is too long or contains invalid characters")
	// ErrNoServers: the ServerList is empty.
	ErrNoServers = errors.New("memcache: no servers configured or available")
)

// ConnectTimeoutError says that there was no connection to Addr within
// Client.Timeout. Nothing was sent.
type ConnectTimeoutError struct {
	Addr net.Addr

	err error
}

func (e *ConnectTimeoutError) Error() string {
	return "memcache: connect timeout to " + e.Addr.String()
}

// Unwrap returns memring's own error, a [client.OpError].
func (e *ConnectTimeoutError) Unwrap() error { return e.err }

// callError is any error that gomemcache has no name for. It is a net.Error, as
// gomemcache's are if they come from the network, and wraps memring's own.
type callError struct{ err error }

var _ net.Error = (*callError)(nil)

func (e *callError) Error() string {
	if errors.Is(e.err, client.ErrNotNumber) {
		return "memcache: client error: cannot increment or decrement non-numeric value"
	}
	return e.err.Error()
}

func (e *callError) Unwrap() error { return e.err }

// Timeout reports whether Client.Timeout has passed.
func (e *callError) Timeout() bool { return errors.Is(e.err, client.ErrTimeout) }

// Temporary is what net.Error demands: the same, as for package net's timeouts.
func (e *callError) Temporary() bool { return e.Timeout() }

// Is finds what a socket with a deadline would have returned, and ErrServerError.
func (e *callError) Is(target error) bool {
	switch target {
	case os.ErrDeadlineExceeded:
		return e.Timeout()
	case ErrServerError:
		return errors.Is(e.err, client.ErrServer) || errors.Is(e.err, client.ErrTooLarge) || errors.Is(e.err, client.ErrNotNumber)
	}
	return false
}

// failure makes an error of one of memring's. addr is of the server that was
// asked; nil if there were several.
func failure(err error, addr net.Addr) error {
	switch {
	case errors.Is(err, client.ErrNotFound):
		return ErrCacheMiss
	case errors.Is(err, client.ErrNotStored):
		return ErrNotStored
	case errors.Is(err, client.ErrConflict):
		return ErrCASConflict
	case errors.Is(err, client.ErrKey): // with its prefix
		return ErrMalformedKey
	}
	var unconnected *direct.NoConnection // here, since it is allocated
	if errors.As(err, &unconnected) {
		return &ConnectTimeoutError{Addr: addr, err: err}
	}
	return &callError{err}
}
