// Package direct is what the client has for the packages beside it and hides
// from users: requests that name their server and give the expiration as it goes
// over the wire, for APIs that are defined in those terms.
//
// Package client fills it in when it is initialised, and cannot be imported from
// here; hence the functions in variables and the client as any.
package direct

// Verb says what a request does.
type Verb uint8

// The verbs. Ping and FlushAll have no key.
const (
	Get Verb = iota
	GetAndTouch
	Touch
	Set
	Add
	Replace
	Append
	Prepend
	CompareAndSwap
	Delete
	Increment
	Decrement
	Ping
	FlushAll
	Verbs // how many there are
)

// Request is one request. Value is the caller's own again when the call has
// returned.
type Request struct {
	Verb    Verb
	Server  int // index in the list that client.New was given
	Key     string
	Value   []byte
	Flags   uint32
	Exptime int64 // protocol.txt, "Expiration times": negative is at once
	CAS     uint64
	Delta   uint64
}

// Reply is what the server answered. Value is the caller's own.
type Reply struct {
	Value  []byte
	Flags  uint32
	CAS    uint64
	Number uint64 // of Increment and Decrement: the new one
}

var (
	// Do carries r out. cl is a *client.Client; errors are its methods'.
	Do func(cl any, r Request) (Reply, error)

	// GetMulti asks for keys, each of the server whose index stands at the same
	// place in servers. It calls got for each item and failed for each error, all
	// in the caller's goroutine.
	GetMulti func(cl any, keys []string, servers []int, got func(key string, r Reply), failed func(error))
)

// NoConnection is the error of a call that ended before there was a connection,
// and of an attempt to connect that took too long.
type NoConnection struct{ Err error }

func (e *NoConnection) Error() string { return e.Err.Error() }

func (e *NoConnection) Unwrap() error { return e.Err }
