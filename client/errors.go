package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memring/memring/reader"
)

// Errors that calls return, mostly wrapped in an [OpError]. They match with
// [errors.Is].
var (
	// ErrNotFound: the key has no item.
	ErrNotFound = errors.New("not found")
	// ErrNotStored: the condition of Add, Replace, Append or Prepend does not hold.
	ErrNotStored = errors.New("not stored")
	// ErrConflict: the item has changed since its CAS value was read.
	ErrConflict = errors.New("CAS conflict")
	// ErrTooLarge: the value exceeds the server's item size limit (its -I
	// option). The server has dropped the item that was stored under the key.
	ErrTooLarge = errors.New("value too large for the server")
	// ErrNotNumber: Increment or Decrement met an item that is no decimal number.
	ErrNotNumber = errors.New("item is not a number")
	// ErrNotModified: the item still has the version of GetOptions.UnlessCAS.
	ErrNotModified = errors.New("not modified")
	// ErrUnsupported: the server is too old for what was asked of it, or does not
	// say how old it is; see [UnsupportedError]. Nothing was done: calls of this
	// package have not sent it, and what those of package admin have sent the server
	// has refused.
	ErrUnsupported = errors.New("not supported by the server")
	// ErrServer: the server answered SERVER_ERROR or CLIENT_ERROR.
	ErrServer = errors.New("server error")

	// ErrKey: the key is empty, longer than MaxKeyLen bytes, or has a space or a
	// control character. Nothing was sent.
	ErrKey = errors.New("invalid key")
	// ErrTTL: the TTL is negative or ends later than memcached can express.
	// Nothing was sent.
	ErrTTL = errors.New("invalid TTL")
	// ErrConfig: New was given something that cannot work.
	ErrConfig = errors.New("invalid configuration")
	// ErrArgument: an argument other than key and TTL is invalid. Nothing was sent.
	ErrArgument = errors.New("invalid argument")

	// ErrReleased: the lease was released before, by this Lease or a copy of it.
	// No OpError.
	ErrReleased = errors.New("lease was released already")

	// ErrClosed: the client is closed.
	ErrClosed = errors.New("client is closed")
	// ErrNilClient: a method was called on a nil *Client, or on one that New has
	// not made.
	ErrNilClient = errors.New("no client: make one with client.New")
	// ErrTimeout: Config.OpTimeout or the context's deadline has passed. It
	// matches context.DeadlineExceeded too.
	ErrTimeout error = timeoutError{}
	// ErrUnavailable: the server cannot be reached; the wrapped error says why.
	ErrUnavailable = errors.New("server unavailable")
	// ErrAuth: no connection can be made to the server because it refuses
	// Config.Credentials, or demands some where there are none, or demands none, or
	// because there is something wrong with them. With Config.Credentials nothing was
	// sent. It comes together with ErrUnavailable. (Where there are none, newer servers
	// close the connection without a word when their first request stores something.)
	ErrAuth = errors.New("authentication failed")
	// ErrConnLost: the connection broke while the request was under way.
	ErrConnLost = errors.New("connection lost")
	// ErrOverloaded: more requests wait for this server than the client will
	// queue. Nothing was sent.
	ErrOverloaded = errors.New("too many requests outstanding")
	// ErrDesync: the server's replies do not match the requests. The
	// connection was closed, and nothing of the reply was handed out.
	ErrDesync = reader.ErrDesync
)

type timeoutError struct{}

func (timeoutError) Error() string   { return "timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }
func (timeoutError) Is(err error) bool {
	return err == context.DeadlineExceeded
}

// Outcome says what is known of a request whose call has failed.
type Outcome uint8

const (
	// Answered: the server has answered, with an error, or there was nothing to
	// send.
	Answered Outcome = iota
	// NotSent: no byte of the request has left this process.
	NotSent
	// Unknown: the request was sent, at least in part, and no answer was seen:
	// the server may have carried it out or not.
	Unknown
)

func (o Outcome) String() string {
	switch o {
	case NotSent:
		return "not sent"
	case Unknown:
		return "outcome unknown"
	}
	return "answered"
}

// OpError is the error of one operation. Its text never has a key or a value in
// it: they can be personal data.
type OpError struct {
	Op      string // "get", "set", …
	Server  string // as given to New; empty if no server was chosen yet
	Outcome Outcome
	Err     error

	// Keys are the keys that a GetMulti did not get because of this error.
	Keys []string
}

func (e *OpError) Error() string {
	s := "memring: " + e.Op
	if e.Server != "" {
		s += " " + e.Server
	}
	s += ": " + e.Err.Error()
	if e.Outcome != Answered {
		s += " (" + e.Outcome.String() + ")"
	}
	return s
}

func (e *OpError) Unwrap() error { return e.Err }

// Timeout makes an OpError fit net.Error's idea of a timeout.
func (e *OpError) Timeout() bool { return errors.Is(e.Err, ErrTimeout) }

// SafeToRetry reports whether nothing was sent of the operation that err came
// from, so that repeating it cannot carry it out twice. Of joined errors, as
// calls to all servers return them, it must be true for each that is an
// operation's: it speaks of the servers that failed, not of those that answered.
func SafeToRetry(err error) bool {
	found, all := notSent(err)
	return found && all
}

// notSent looks at every OpError in err's tree: whether there is any, and
// whether all of them are NotSent.
func notSent(err error) (found, all bool) {
	switch e := err.(type) { //nolint:errorlint // errors.As stops at the first
	case *OpError:
		return true, e.Outcome == NotSent
	case interface{ Unwrap() error }:
		return notSent(e.Unwrap())
	case interface{ Unwrap() []error }:
		all = true
		for _, err := range e.Unwrap() {
			f, a := notSent(err)
			found, all = found || f, all && a
		}
		return found, all
	}
	return false, true
}

// ServerError is an error line of the server. It matches [ErrServer]. Its text
// has the line only if that is one of memcached's own: a proxy might put a key
// into it.
type ServerError struct{ Line string }

func (e *ServerError) Error() string {
	for _, known := range []string{
		"SERVER_ERROR out of memory", "SERVER_ERROR busy", "SERVER_ERROR internal", "SERVER_ERROR while",
		"SERVER_ERROR Too many", "SERVER_ERROR large object", "CLIENT_ERROR invalid", "CLIENT_ERROR duplicate",
		"CLIENT_ERROR flush_all not allowed", "CLIENT_ERROR usage",
	} {
		if strings.HasPrefix(e.Line, known) {
			return fmt.Sprintf("server answered %q", e.Line)
		}
	}
	class, _, _ := strings.Cut(e.Line, " ")
	if len(class) > len("SERVER_ERROR") {
		class = "an error line"
	}
	return "server answered " + class + " (the line is in ServerError.Line)"
}

// Is makes a ServerError match ErrServer.
func (e *ServerError) Is(err error) bool { return err == ErrServer }

// UnsupportedError says what a server does not know. It matches [ErrUnsupported].
type UnsupportedError struct {
	Feature string // the option, or the command, that was asked for
	Need    string // the first version of memcached that has it
	Have    string // what the server says its version is; empty if nothing
	Server  string // as given to New
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%v: %s needs memcached %s, and the server says its version is %q", ErrUnsupported, e.Feature, e.Need, e.Have)
}

// Is makes an UnsupportedError match ErrUnsupported.
func (e *UnsupportedError) Is(err error) bool { return err == ErrUnsupported }
