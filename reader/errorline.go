package reader

import "bytes"

// afterClientError says, for each CLIENT_ERROR, why the stream is lost, or ""
// if it is not. The table holds what servers from 1.6.10 on are known to
// send; whatever it lacks is poison too.
//
// The test is what the server does with the body of an ms: where it has read
// its length it swallows it, else it runs it as commands. So "options flags too
// long" is missing on purpose: up to 1.6.39 an ms gets it before its length was
// looked at. (With an "are" in it, it comes from an mg, or from later servers.)
var afterClientError = map[string]string{
	"bad data chunk":          reasonBadChunk,
	"bad command line format": reasonBadFormat,
	"unauthenticated":         ReasonUnauthenticated,

	"cannot increment or decrement non-numeric value": "",

	// Meta flags. Found when the length of a body is known already.
	"invalid flag":                     "",
	"duplicate flag":                   "",
	"invalid or duplicate flag":        "",
	"opaque token too long":            "",
	"options flags are too long":       "",
	"bad token in command line format": "",
	"error decoding key":               "",
	"invalid mode for ms M token":      "",
	"invalid mode for ma M token":      "",
	"invalid numeric initial value":    "",
	"invalid numeric delta value":      "",

	// Requests that have no body.
	"invalid exptime argument":         "",
	"invalid numeric delta argument":   "",
	"flush_all not allowed":            "",
	"bad command line":                 "",
	"Illegal slab id":                  "",
	"usage: stats detail on|off|dump":  "",
	"stats detail not allowed":         "",
	"stats cachedump not allowed":      "",
	"watch commands not allowed":       "",
	"lru crawler disabled":             "",
	"slab reassignment disabled":       "",
	"invalid shutdown mode":            "",
	"sleep must be one second or less": "",

	// Authentication, behind which nothing is pipelined. The body was read.
	"authentication failure":          "",
	"bad authentication token format": "",
	"bad command line termination":    "",
}

// errorLine takes a line that is none of the regular ones of its reply. An
// error line ends any reply, also one that has given values already.
//
//	ERROR
//	CLIENT_ERROR <text>
//	SERVER_ERROR <text>
//
// (protocol.txt, Error strings)
func (p *Parser) errorLine(line []byte) (reason string) {
	text, class := cutErrorWord(line)
	switch class {
	case serverError:
		// Whatever went wrong, the server had understood the request, and has
		// swallowed its body.
		return p.failed(line)
	case clientError:
		reason, ok := afterClientError[string(text)]
		if p.expect.Bare && (!ok || reason == reasonBadFormat) {
			reason, ok = "", true
		}
		if !ok {
			return reasonClientError
		}
		if reason == "" {
			return p.failed(line)
		}
		return reason
	case plainError:
		if string(text) == "Too many open connections" {
			return ReasonTooManyConns
		}
		if (p.kind == Stats || p.expect.Bare) && p.seen == 0 {
			// What stats answers to a group it does not know, and others to what
			// they can't do. Such a request has no body that could be taken for
			// commands.
			return p.failed(line)
		}
		return reasonError
	}
	return strange(line)
}

type errorClass uint8

const (
	notError errorClass = iota
	plainError
	clientError
	serverError
)

func isErrorLine(line []byte) bool {
	_, class := cutErrorWord(line)
	return class != notError
}

// cutErrorWord returns the class of an error line and the text behind its
// first word. The word may have a colon, as in "ERROR: shutdown not enabled".
func cutErrorWord(line []byte) (text []byte, class errorClass) {
	word, text, _ := bytes.Cut(line, []byte(" "))
	switch string(bytes.TrimSuffix(word, []byte(":"))) {
	case "ERROR":
		class = plainError
	case "CLIENT_ERROR":
		class = clientError
	case "SERVER_ERROR":
		class = serverError
	}
	return text, class
}

// strange tells the two reasons apart for which a line can't be in its place.
func strange(line []byte) (reason string) {
	word, _, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "VA", "HD", "EN", "NF", "NS", "EX", "MN", "ME",
		"VALUE", "END", "STAT", "ITEM", "PREFIX", "RESET", "OK", "VERSION",
		"STORED", "NOT_STORED", "EXISTS", "NOT_FOUND", "DELETED", "TOUCHED":
		return reasonShape
	}
	return reasonUnknown
}
