package client

import (
	"context"
	"fmt"

	"github.com/memring/memring/client/internal/direct"
)

func init() {
	direct.Do, direct.GetMulti = doDirect, getMultiDirect
	direct.Ask, direct.Open = askDirect, openDirect
}

var directVerbs = [direct.Verbs]verb{
	direct.Get: verbGet, direct.GetAndTouch: verbGetAndTouch, direct.Touch: verbTouch,
	direct.Set: verbSet, direct.Add: verbAdd, direct.Replace: verbReplace,
	direct.Append: verbAppend, direct.Prepend: verbPrepend, direct.CompareAndSwap: verbCompareAndSwap,
	direct.Delete: verbDelete, direct.Increment: verbIncrement, direct.Decrement: verbDecrement,
	direct.Ping: verbPing, direct.FlushAll: verbFlushAll,
}

// doDirect is [direct.Do].
func doDirect(client any, r direct.Request) (direct.Reply, error) {
	cl, v, ctx := client.(*Client), directVerbs[r.Verb], context.Background()
	o, err := cl.take(ctx, v, r.Key)
	if err != nil {
		return direct.Reply{}, err
	}
	switch {
	case len(r.Value) > MaxValueLen:
		err = fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, len(r.Value), MaxValueLen)
	case v != verbPing && v != verbFlushAll:
		o.wire, err = cl.keys.wire(r.Key)
	}
	if err != nil {
		return direct.Reply{}, o.refuse(err)
	}
	o.value, o.flags, o.exptime, o.cas, o.delta = r.Value, r.Flags, r.Exptime, r.CAS, r.Delta
	srv := cl.servers[r.Server]
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return direct.Reply{}, err
	}
	reply := direct.Reply{Value: o.dst, Flags: o.found.flags, CAS: o.found.cas}
	var bad error
	if v == verbIncrement || v == verbDecrement {
		reply.Number, bad = o.count(srv)
	}
	if err := o.finish(srv); err != nil {
		return direct.Reply{}, err
	}
	return reply, bad
}

// getMultiDirect is [direct.GetMulti].
func getMultiDirect(client any, keys []string, servers []int, got func(string, direct.Reply), failed func(error)) {
	cl, ctx := client.(*Client), context.Background()
	if err := cl.usable(ctx); err != nil {
		failed(&OpError{Op: verbGets.String(), Outcome: NotSent, Err: err, Keys: keys})
		return
	}
	g := &multiGet{yield: func(l Lease, err error) bool {
		if err != nil {
			failed(err)
		} else {
			got(l.Key, direct.Reply{Value: l.Value, Flags: l.Flags, CAS: l.CAS})
		}
		return true
	}}
	g.run(ctx, cl, keys, servers)
}
