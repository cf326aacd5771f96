package client

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// maxGetsLine bounds the bytes of keys in one gets line. The server takes lines
// of any length for get and gets, but must hold one whole before it answers.
const maxGetsLine = 32 << 10

// GetMulti asks for many keys at once and yields the items that there are, as
// they come, in no particular order; keys without an item are passed over. All
// servers are asked at the same time, each over one connection, and the whole call
// has one deadline. [GetOptions] ask for more, of each key; with Vivify there is no
// key without an item.
//
// An error is yielded with an empty Item and concerns some of the keys only:
// [OpError].Keys has them, and OpError.Server the server that failed; the
// others go on. Breaking out of the loop ends the call; replies that are still
// on their way are thrown away. A key given twice may be yielded twice.
func (cl *Client) GetMulti(ctx context.Context, keys []string, opts ...GetOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		cl.getMulti(ctx, keys, opts, &multiGet{yield: func(l Lease, err error) bool { return yield(l.Item, err) }})
	}
}

// getMulti is one multi-get. Without leases the Leases are only what Items come in.
func (cl *Client) getMulti(ctx context.Context, keys []string, opts []GetOptions, g *multiGet) {
	err := cl.usable(ctx)
	if err == nil {
		err = g.options(opts)
	}
	if err != nil {
		g.yield(Lease{}, &OpError{Op: verbGets.String(), Outcome: NotSent, Err: err, Keys: keys})
		return
	}
	g.run(ctx, cl, keys, nil)
}

// multiGet is the job of a multi-get. Plain keys are asked for with gets, one request
// for hundreds of them; keys that need base64, and options, with runs of mg.
type multiGet struct {
	keys   []string
	yield  func(Lease, error) bool
	leases bool
	opts   GetOptions
	meta   bool    // there are options
	asked  request // what they come to
}

var _ job = (*multiGet)(nil)

func (g *multiGet) options(opts []GetOptions) error {
	var err error
	if g.opts, err = one(opts); err != nil {
		return err
	}
	if g.opts.UnlessCAS != 0 {
		return fmt.Errorf("%w: UnlessCAS is for the get of one key, whose CAS it is", ErrArgument)
	}
	if g.meta = g.opts != (GetOptions{}); !g.meta {
		return nil // what asks for nothing needs no extras
	}
	g.asked.verb = verbGetRun
	return g.opts.apply(&g.asked)
}

// run is the whole call. The keys are copied: the loop's body may change its slice.
func (g *multiGet) run(ctx context.Context, cl *Client, keys []string, servers []int) {
	g.keys = slices.Clone(keys)
	f := cl.fanout(g)
	f.hits = g.hits
	f.limit = cl.deadline(ctx)
	f.run(ctx, len(keys), servers)
}

func (g *multiGet) key(entry int) string { return g.keys[entry] }

func (g *multiGet) ask(f *fanout, o *op, entries []int) (n int, err error) {
	w := f.wire(entries[0])
	v, most, room := verbGets, len(entries), maxGetsLine
	if g.meta || w.base64 {
		v, most, room = verbGetRun, min(len(entries), runKeys), maxRunBytes
	}
	o.begin(v, "")
	o.leases = g.leases
	// An mg with N is answered whatever it finds.
	r := o.startRun(v == verbGetRun && g.opts.Vivify == 0)
	if g.meta {
		x, asked := o.extra(), g.asked.extras
		x.flags, x.asks, x.needs = append(x.flags, asked.flags...), asked.asks, asked.needs
		r.options = &g.opts
	}
	for n < most && room > 0 {
		if w = f.wire(entries[n]); w.base64 && v == verbGets {
			break
		}
		r.add(w, g.keys[entries[n]])
		room -= len(w.text) + 1
		n++
	}
	return n, nil
}

// settled is not called: see fanout.hits.
func (g *multiGet) settled(*server, *op, []int) int { return 0 }

func (g *multiGet) fail(srv *server, entries []int, err error, outcome Outcome) bool {
	e := &OpError{Op: verbGets.String(), Err: err, Outcome: outcome, Keys: make([]string, len(entries))}
	if srv != nil {
		e.Server = srv.name
	}
	for i, entry := range entries {
		e.Keys[i] = g.keys[entry]
	}
	return g.yield(Lease{}, e)
}

func (g *multiGet) hits(list []Lease) bool {
	for i := range list {
		if !g.yield(list[i], nil) {
			giveBack(list[i+1:]) // those up to it are the caller's
			return false
		}
	}
	return true
}
