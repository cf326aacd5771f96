package reader

// Kind is the shape of the reply that a request has.
type Kind uint8

const (
	// Meta: one reply of the meta protocol (HD, VA with its value, EN, NF, NS,
	// EX, MN) or one error line.
	Meta Kind = iota + 1
	// Values: the reply of a classic get or gets: VALUE blocks, then END.
	Values
	// Stats: STAT lines, then END (or a lone RESET, or OK).
	Stats
	// Run: the replies to requests of the meta protocol that are one slot: one to
	// each, or, if they are quiet, those that are not nominal, then MN.
	Run
	// Line: exactly one line, whatever it says: OK, VERSION 1.6.18, STORED.
	Line
	// Debug: the one line that me has: ME with what is known of an item, or EN.
	Debug
)

// FlagSet is a set of flags of a reply.
type FlagSet uint8

// The flags that Expect.Want can have.
const (
	WantTTL     FlagSet = 1 << iota // t
	WantIdle                        // l
	WantFetched                     // h
	WantSize                        // s
	WantCAS                         // c

	// Expect.Opaque and Expect.Key say whether these have to be there.
	wantOpaque // O
	wantKey    // k
)

// Expect says what the next reply has to look like. Whatever does not fit it
// is poison: see [Parser].
type Expect struct {
	Kind Kind
	// Allow and Value, Meta and Run: what the request can be answered with, error lines
	// apart. Anything else is poison.
	Allow StatusSet
	Value ValueRule
	// Base64, Meta: Key was sent as base64, with the b flag. The server
	// returns a key in the form its item was stored under, which need not be
	// the one asked for, and either passes; see Item.Key.
	Base64 bool
	// Want, Meta: the flags that were asked for and must be in a reply that states
	// success; without one it is poison.
	Want FlagSet
	// Raw, Meta: Item.Raw is wanted.
	Raw bool
	// Bare, Line and Stats: nothing but a line was sent, with no body that the server
	// could take for commands, so that any error line is all of the answer.
	Bare bool
	// Quiet, Run: all requests but the last have the q flag, and an mn is behind them.
	Quiet bool
	// Opaque, Meta: sent as O<hex>; a reply that carries another one is poison,
	// and so are VA, HD and MN without it. If zero, none was sent, and a reply
	// with one is poison. The server returns none for mn. Run: that of the first
	// request; those behind it have the numbers that follow. In a quiet run every
	// reply must have one.
	Opaque uint32
	// Key, Meta: the key, as sent, that a reply's k flag must return; VA, HD
	// and MN without one are poison. If empty, no k flag was sent, or its key
	// is not looked at. Debug: the key that ME must have.
	Key string
	// Unless, Meta with ValueUnless: the CAS that was sent as a C flag. Only a reply
	// with this CAS is without a value.
	Unless uint64
	// Answers, Line: the words that the line can begin with, for a request that has
	// several answers. Each is all of the line, or what stands before a space in it.
	// They go before everything that is said of lines elsewhere: one may be STAT. If
	// nil, the line can be any that is all of a reply.
	Answers []string
	// Keys, Values: the keys asked for; those returned must be a subsequence,
	// in order. Run: what Key is for each request; none if there is no k flag at all.
	Keys []string
	// Count, Run: how many requests there are.
	Count int
}

// ValueRule says whether a reply of the meta protocol that states success brings
// a value.
type ValueRule uint8

const (
	ValueAny    ValueRule = iota // either
	ValueMust                    // VA
	ValueNever                   // HD
	ValueUnless                  // VA, or HD if the CAS is Expect.Unless: the Status is Unchanged then
)

// StatusSet is a set of statuses; the zero set stands for all.
type StatusSet uint8

// Statuses makes a set.
func Statuses(list ...Status) (set StatusSet) {
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

// fits reports whether a reply of the meta protocol is one that its request can
// have.
func (e *Expect) fits(s Status, value bool) bool {
	switch {
	case e.Allow != 0 && e.Allow&(1<<s) == 0:
		return false
	case s != OK:
		return true
	}
	switch e.Value {
	case ValueMust:
		return value
	case ValueNever:
		return !value
	}
	return true
}

// Status is the outcome that a reply states.
type Status uint8

const (
	OK        Status = iota + 1 // HD, VA, END, OK, MN and the like
	Miss                        // EN
	NotFound                    // NF
	NotStored                   // NS
	Exists                      // EX
	Failed                      // an error line after which the stream is in sync; Result.Line has it
	Unchanged                   // HD to a request whose value was not wanted with Expect.Unless
)

// Item is the header of one value.
type Item struct {
	Key                        []byte // as returned by the server (base64 if the item was stored so), nil if it was not; valid during the call only
	Index                      int    // Values: which of Keys it is; Run: which request's
	Size                       int    // bytes of the value; of a reply without one, what the s flag said
	Flags                      uint32 // client flags
	CAS                        uint64
	TTL                        int64  // seconds left, -1 if the item never expires; only if HasTTL
	HasTTL, Won, Stale, Leased bool   // t, W, X and Z flags of a meta reply
	Fetched                    bool   // h: it had been fetched before
	Idle                       uint32 // l: seconds since it was last used
	Raw                        []byte // all flags as sent, if Expect.Raw; valid during the call only
}

// Result ends a reply.
type Result struct {
	Status Status
	Line   []byte // Line, Debug and Failed: the line without its end; valid during the call only
	Item   Item   // Meta: what the flags of a reply without a value (HD, …) said
}

// Slot is one place in a connection's FIFO: the request whose reply is due.
// Its methods are called in the order Expect, then any number of Value (each
// followed by the Chunks of that value), Answer or Stat, then Done, once. A slot whose
// caller has given up is a tombstone: it is called just the same and throws
// away what it is given.
type Slot interface {
	// Expect describes the reply. It stays the same, with all it refers to,
	// until Done or the connection's death.
	Expect() *Expect
	// Value announces a value. Chunks of exactly it.Size bytes in total follow,
	// none if it is empty. Size is the server's word, at most MaxValue: it is a
	// bound for what to allocate only as far as the server is trusted. A
	// counter that was decremented may end in spaces, which are given as sent.
	Value(it *Item)
	// Chunk gives the value's next bytes, which are valid during the call only.
	Chunk(p []byte)
	// Answer gives, of a Run, what the reply to request i says, if that is not a
	// value. If the run is quiet and the reply an error line, it answers one of the
	// requests from i on that have not been answered when the next reply comes. r is
	// valid during the call only.
	Answer(i int, r *Result)
	// Stat gives one STAT line (or ITEM or PREFIX, of stats cachedump and
	// stats detail dump); both are valid during the call only.
	Stat(name, value []byte)
	// Done is the end of the reply, whose bytes have all been consumed. The
	// parser does not touch the slot after it.
	Done(r *Result)
}

// Queue is a connection's FIFO.
type Queue interface {
	// Next removes and returns the oldest outstanding slot, or nil. It is
	// called when the first byte of that slot's reply has come.
	Next() Slot
}
