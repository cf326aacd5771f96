package admin

import (
	"errors"
	"strings"

	"github.com/memring/memring/client"
)

// What the server says no with, wrapped in a [client.OpError]. They match with
// [errors.Is], all of them [client.ErrServer] as well, and [errors.As] finds the
// server's line in a [client.ServerError]. Every other error is one of package
// client's.
var (
	// ErrBusy: the server is at it already, or has too many of these. Nothing was
	// done; it can be tried again later.
	ErrBusy = errors.New("the server is busy with another such request")
	// ErrDisabled: the server was started without this, or does not allow it.
	ErrDisabled = errors.New("disabled on the server")
	// ErrBadClass: there is no such slab class.
	ErrBadClass = errors.New("no such slab class")
	// ErrNoSpare: the class to take a page from has none to spare.
	ErrNoSpare = errors.New("the slab class has no page to spare")
	// ErrNotFull: the class to give a page to has free memory itself.
	ErrNotFull = errors.New("the slab class is not full")
	// ErrUnsafe: the class cannot give a page away now.
	ErrUnsafe = errors.New("the slab class cannot give a page away now")
	// ErrSame: a page would go to the class that it comes from.
	ErrSame = errors.New("both slab classes are the same")
	// ErrNothing: there is no item to crawl.
	ErrNothing = errors.New("no items to crawl")
	// ErrMemLimit: the limit is too small, or out of bounds for this server.
	ErrMemLimit = errors.New("memory limit out of bounds")
	// ErrCerts: the certificates were not read again: TLS is off, or there is
	// something wrong with the files.
	ErrCerts = errors.New("certificates not refreshed")
)

// words are the answers that say no, by the word they begin with.
var words = map[string]error{
	"BUSY":                   ErrBusy,
	"BADCLASS":               ErrBadClass,
	"NOSPARE":                ErrNoSpare,
	"NOTFULL":                ErrNotFull,
	"UNSAFE":                 ErrUnsafe,
	"SAME":                   ErrSame,
	"NOTSTARTED":             ErrNothing,
	"MEMLIMIT_TOO_SMALL":     ErrMemLimit,
	"MEMLIMIT_ADJUST_FAILED": ErrMemLimit,
	"WATCHER_TOO_MANY":       ErrBusy,
	"WATCHER_FAILED":         client.ErrServer,
	"Error":                  ErrCerts,
}

// errorLines are the error lines that have a name here.
var errorLines = map[string]error{
	"ERROR locked try again later":             ErrBusy, // the hash table is being resized
	"ERROR metadump not allowed":               ErrDisabled,
	"ERROR key dump not allowed":               ErrDisabled,
	"CLIENT_ERROR lru crawler disabled":        ErrDisabled,
	"CLIENT_ERROR slab reassignment disabled":  ErrDisabled,
	"CLIENT_ERROR watch commands not allowed":  ErrDisabled,
	"CLIENT_ERROR stats detail not allowed":    ErrDisabled,
	"CLIENT_ERROR stats cachedump not allowed": ErrDisabled,
	"CLIENT_ERROR flush_all not allowed":       ErrDisabled,
}

// refusalOf is the error that line stands for, nil if it is none of those above.
func refusalOf(line string) error {
	err := errorLines[line]
	if err == nil {
		word, _, _ := strings.Cut(line, " ")
		err = words[word]
	}
	if err == nil {
		return nil
	}
	return &refusal{err, client.ServerError{Line: line}}
}

// isErrorLine reports whether line is an error line of any kind.
func isErrorLine(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch strings.TrimSuffix(word, ":") {
	case "ERROR", "CLIENT_ERROR", "SERVER_ERROR":
		return true
	}
	return false
}

// refusal is an answer that says no. Its text is its name alone: what else there is
// in the line can be anybody's.
type refusal struct {
	err  error
	line client.ServerError
}

func (r *refusal) Error() string   { return r.err.Error() }
func (r *refusal) Unwrap() []error { return []error{r.err, &r.line} }
