package reader

import "errors"

// ErrDesync is what every poisoning error matches.
var ErrDesync = errors.New("reply stream out of sync")

// DesyncError says why a reply stream can't be trusted any more. The
// connection has to be closed: what an outstanding request did is unknown.
type DesyncError struct {
	// Reason is one of this package's fixed texts. It never holds bytes of the
	// stream, since keys and values can be personal data.
	Reason string
}

func (e *DesyncError) Error() string { return ErrDesync.Error() + ": " + e.Reason }

// Unwrap makes errors.Is(err, ErrDesync) true.
func (e *DesyncError) Unwrap() error { return ErrDesync }

// Reasons that a caller can do something about.
const (
	// ReasonUnauthenticated: the server was started with -Y. It answers once
	// for all the requests it has read, so the stream is lost.
	ReasonUnauthenticated = "server answered CLIENT_ERROR unauthenticated (it demands authentication first)"
	// ReasonTooManyConns: the server has -c connections already, and says so
	// to a new one before it closes it.
	ReasonTooManyConns = "server answered ERROR (too many open connections)"
)

const (
	reasonUnasked     = "bytes without an outstanding request"
	reasonExpect      = "request expects no known kind of reply"
	reasonLongLine    = "line longer than MaxLine"
	reasonBareLF      = "line does not end in CR LF"
	reasonValueEnd    = "value is not followed by CR LF"
	reasonNumber      = "malformed number"
	reasonSize        = "malformed value size, or one over MaxValue"
	reasonOpaque      = "reply carries another opaque"
	reasonNoOpaque    = "reply lacks the opaque"
	reasonKey         = "reply carries another key"
	reasonNoKey       = "reply lacks the key"
	reasonNoFlag      = "reply lacks a flag that was asked for"
	reasonCAS         = "reply has a value and the CAS of one not wanted, or neither"
	reasonHeader      = "malformed reply line"
	reasonShape       = "reply of another kind than its request has"
	reasonUnknown     = "unknown reply"
	reasonTooMany     = "more replies than the run has requests"
	reasonError       = "server answered ERROR (unknown command)"
	reasonBadChunk    = "server answered CLIENT_ERROR bad data chunk"
	reasonBadFormat   = "server answered CLIENT_ERROR bad command line format"
	reasonClientError = "server answered CLIENT_ERROR of an unknown kind"
	reasonLanded      = "more bytes landed than the value has left"
)
