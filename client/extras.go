package client

import (
	"sync"

	"github.com/memring/memring/reader"
)

// extras are what few requests have: options, the words of other commands than the
// usual ones, and what those are answered. They lie apart so that the many ops of a
// crowd stay small, and that a plain request has nothing of the kind to be cleared.
type extras struct {
	flags  []byte         // further flags of a meta command, each behind a space
	needs  feature        // of the server
	asks   reader.FlagSet // what must be in the reply
	ifCAS  bool           // flags has a C
	adds   bool           // append and prepend: store the value where there is none
	bare   bool           // verbGet: without the value
	single bool           // there can be no second request
	unless uint64         // verbGet: without the value if it has this CAS
	loads  bool           // verbGet, of a GetOrLoad: it may win a claim
	meta   *metaCall      // verbMeta

	args    string   // of verbStats; of verbLine, all of it
	answers []string // verbLine

	// The reply, which is the op's as its other results are.
	info  Info // what asks has asked for
	size  int  // of the value, if loads
	line  string
	stats map[string]string
}

var extrasPool = sync.Pool{New: func() any { return new(extras) }}

// extra returns the request's extras. It has some from then on.
func (r *request) extra() *extras {
	if r.extras == nil {
		r.extras = extrasPool.Get().(*extras)
	}
	return r.extras
}

// asks returns what options want to see in the reply.
func (r *request) asks() reader.FlagSet {
	if r.extras == nil {
		return 0
	}
	return r.extras.asks
}

// needs returns what options demand of the server.
func (r *request) needs() feature {
	if r.extras == nil {
		return 0
	}
	return r.extras.needs
}

// put empties the extras and gives them back.
func (x *extras) put() {
	*x = extras{flags: x.flags[:0]}
	extrasPool.Put(x)
}
