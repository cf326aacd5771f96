package memcachedtest

import (
	"slices"
	"sync/atomic"
)

// Request is one request as it came in.
type Request struct {
	// Conn numbers the server's connections from 1, in order of acceptance.
	Conn int
	// Seq numbers the requests of a connection from 1.
	Seq int
	// Line is the command line without its newline.
	Line string
	// Command is the line's first word, such as "mg".
	Command string
	// Key is the line's second word, as sent; empty if there is none.
	Key string
	// Body is the data block without its newline. It is nil for a command
	// without one, where the server drops it unread (a value that is too
	// large), and in [Server.Requests].
	Body []byte
}

// Words are the words of the command line.
func (r Request) Words() []string { return tokens(r.Line) }

// Flag returns what follows the letter of a meta command's flag, and whether
// the flag is there.
func (r Request) Flag(letter byte) (arg string, ok bool) {
	words := tokens(r.Line)
	first := 2
	if r.Command == "ms" {
		first = 3
	}
	for _, w := range words[min(first, len(words)):] {
		if w[0] == letter {
			return w[1:], true
		}
	}
	return "", false
}

// Script chooses what the server does with a request. It is called for one
// request of a connection after the other, and for several connections at the
// same time. It must not block: use [Action.Stall] to wait.
type Script func(Request) Action

// Sequence is a script that applies the actions to the server's first requests,
// in order of arrival, and answers later ones normally.
func Sequence(actions ...Action) Script {
	var n atomic.Int64
	return func(Request) Action {
		if i := int(n.Add(1)) - 1; i < len(actions) {
			return actions[i]
		}
		return Answer()
	}
}

// OnKey is a script that applies an action to every request that names a key,
// multi-gets included, and answers others normally.
func OnKey(key string, a Action) Script {
	return func(r Request) Action {
		if r.Key == key || (isGet(r.Line) && slices.Contains(r.Words(), key)) {
			return a
		}
		return Answer()
	}
}

// OnCommand is a script that applies an action to every request with that
// command, and answers others normally.
func OnCommand(command string, a Action) Script {
	return func(r Request) Action {
		if r.Command == command {
			return a
		}
		return Answer()
	}
}
