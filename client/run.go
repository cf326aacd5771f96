package client

import (
	"strconv"
	"sync"

	"github.com/memring/memring/reader"
)

// run is what an op has that asks for many keys: the keys, and what is known of
// each. It is the op's, so that a tombstone has all it needs; the caller's slices
// are not referred to.
//
// Keys are answered in order. Those before settled have their answers: what has
// said so is a reply to them, or to one behind them. In a quiet run, where an error
// line may be the answer to any of those not yet settled, the next reply narrows it
// down to those before it. If there are as many error lines as keys it can be, each
// has its own; else one of them was refused and others were carried out, and nobody
// can tell which: the outcome of each is unknown.
type run struct {
	keys  []string // as the server knows them
	names []string // as the caller does; empty: the same
	echo  []string // keys as they are asked back: those sent as base64 are not and ""; empty: all are
	quiet bool
	// options are those of a get that asks for Info; they outlive the run's caller.
	options *GetOptions

	statuses []reader.Status // of the runs that only have statuses; 0: nominal, and left out
	settled  int
	told     int     // settled when the caller gave up
	lines    []error // error lines since a key was last settled
	refusals []refusedKeys
	hits     []Lease // values that are there and were not taken; the op's mu guards them
	hit      int     // which key has the value that is coming
}

// refusedKeys are the keys from..to-1 of a run that have no other answer than an error.
type refusedKeys struct {
	from, to int
	err      error
	outcome  Outcome // Answered if it is known which line is whose
}

const (
	// runKeys is how many keys one run of deletes, touches or gets has at most.
	runKeys = 32
	// maxRunBytes is from how many bytes on a run takes no further key.
	maxRunBytes = 8 << 10
)

var runs = sync.Pool{New: func() any { return new(run) }}

// startRun gives o a run without keys.
func (o *op) startRun(quiet bool) *run {
	o.run = runs.Get().(*run)
	o.run.quiet = quiet
	return o.run
}

// add appends a key, which the caller knows by that name.
func (r *run) add(w wireKey, name string) {
	if name != w.text && len(r.names) == 0 {
		r.names = append(r.names, r.keys...)
	}
	if name != w.text || len(r.names) > 0 {
		r.names = append(r.names, name)
	}
	if w.base64 && len(r.echo) == 0 {
		r.echo = append(r.echo, r.keys...)
	}
	r.keys = append(r.keys, w.text)
	switch {
	case w.base64:
		r.echo = append(r.echo, "")
	case len(r.echo) > 0:
		r.echo = append(r.echo, w.text)
	}
}

// coded reports whether key i is sent as base64.
func (r *run) coded(i int) bool { return len(r.echo) > 0 && r.echo[i] == "" }

// echoed returns what [reader.Expect].Keys is for gets.
func (r *run) echoed() []string {
	if len(r.echo) > 0 {
		return r.echo
	}
	return r.keys
}

// name is the caller's name of key i.
func (r *run) name(i int) string {
	if len(r.names) > 0 {
		return r.names[i]
	}
	return r.keys[i]
}

// settle notes that the keys before i have their answers.
func (r *run) settle(i int) {
	switch n := len(r.lines); {
	case i <= r.settled:
		return
	case n == 0:
	case n == i-r.settled:
		for k, err := range r.lines {
			r.refusals = append(r.refusals, refusedKeys{r.settled + k, r.settled + k + 1, err, Answered})
		}
	default:
		r.refusals = append(r.refusals, refusedKeys{r.settled, i, r.lines[0], Unknown})
	}
	clear(r.lines)
	r.lines = r.lines[:0]
	r.settled = i
}

// end notes that all have. The last one's answer is never left out: if it has come
// without its opaque, it is the last error line.
func (r *run) end() {
	last := len(r.keys) - 1
	if n := len(r.lines); n > 0 && r.settled <= last {
		line := r.lines[n-1]
		r.lines = r.lines[:n-1]
		r.settle(last)
		r.lines = append(r.lines, line)
	}
	r.settle(len(r.keys))
}

// answer takes a reply without a value.
func (r *run) answer(i int, res *reader.Result) {
	if res.Status == reader.Failed {
		if r.settle(i); !r.quiet {
			r.refusals = append(r.refusals, refusedKeys{i, i + 1, failure(res.Line), Answered})
			r.settled = i + 1
			return
		}
		r.lines = append(r.lines, failure(res.Line))
		return
	}
	r.settle(i)
	if n := len(r.keys); len(r.statuses) < n {
		r.statuses = append(r.statuses, make([]reader.Status, n-len(r.statuses))...)
	}
	r.statuses[i] = res.Status
	r.settled = i + 1
}

// errors calls f for each key before end with its error, nil for those that went as
// they should. All of them are settled.
func (r *run) errors(v verb, srv *server, from, end int, f func(i int, err error)) {
	refused := r.refusals
	for i := from; i < end; i++ {
		for len(refused) > 0 && refused[0].to <= i {
			refused = refused[1:]
		}
		var err error
		switch {
		case len(refused) > 0 && refused[0].from <= i:
			err = refused[0].opError(v, srv)
		case i < len(r.statuses) && r.statuses[i] != 0:
			err = statusError(v, srv, r.statuses[i])
		}
		f(i, err)
	}
}

func (k *refusedKeys) opError(v verb, srv *server) *OpError {
	return &OpError{Op: v.String(), Server: srv.name, Err: k.err, Outcome: k.outcome}
}

// appendRun appends a run of requests, whose opaques count up from the first, and
// the mn that ends it if it is quiet. Then the last request is not: the answer to an
// mn could be another's, that to a numbered request can't. The opaque is their first
// flag, and so the first of the reply, where the parser looks for it.
func (r *request) appendRun(b []byte, opaque uint32) []byte {
	command := "mg "
	if r.verb == verbDeleteRun {
		command = "md "
	}
	for i, k := range r.run.keys {
		b = append(append(append(b, command...), k...), " O"...)
		b = strconv.AppendUint(b, uint64(opaque)+uint64(i), 16)
		coded := r.run.coded(i)
		switch {
		case r.verb == verbGetRun && coded: // see echoes
			b = append(b, " v f c"...)
		case r.verb == verbGetRun:
			b = append(b, " v f c k"...)
		case r.verb == verbTouchRun:
			b = strconv.AppendInt(append(b, " T"...), r.exptime, 10)
		}
		if r.run.quiet && i < len(r.run.keys)-1 {
			b = append(b, " q"...)
		}
		if coded {
			b = append(b, " b"...)
		}
		if r.extras != nil {
			b = append(b, r.extras.flags...)
		}
		b = append(b, crlf...)
	}
	if r.run.quiet {
		b = append(b, "mn\r\n"...)
	}
	return b
}

// put empties the run and gives it back.
func (r *run) put() {
	clear(r.keys)
	clear(r.names)
	clear(r.echo)
	clear(r.lines)
	clear(r.refusals)
	clear(r.statuses)
	*r = run{keys: r.keys[:0], names: r.names[:0], echo: r.echo[:0],
		statuses: r.statuses[:0], lines: r.lines[:0], refusals: r.refusals[:0], hits: kept(r.hits)}
	if cap(r.keys) <= maxKeptKeys {
		runs.Put(r)
	}
}

// maxKeptKeys bounds the runs that are kept for others.
const maxKeptKeys = 4096
