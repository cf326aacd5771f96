package client_test

import (
	"errors"

	"github.com/memring/memring/client"
)

// perhapsCAS is a CAS of the key's item to compare with, or 0 for none.
func (c *simCaller) perhapsCAS(key string) uint64 {
	if c.r.IntN(3) == 0 {
		return c.seen[key].CAS
	}
	return 0
}

// invalidate leaves the value there, so the model need not know.
func (c *simCaller) invalidate(key string) {
	d := client.DeleteOptions{Invalidate: true, IfCAS: c.perhapsCAS(key)}
	call := c.begin(c.r)
	err := c.c.Delete(call.ctx, key, d)
	call.end("invalidate", err)
	c.late.gaveUp(call, key)
	want := "HD"
	switch {
	case errors.Is(err, client.ErrConflict) && d.IfCAS != 0:
		want = "EX"
	case err != nil:
		want = "NF"
	}
	call.settle("invalidate "+key, err, simStatus(want))
	if err == nil && d.IfCAS != 0 && c.model.swapped(key, d.IfCAS) {
		c.wrong("an invalidation has found a version of %s that was gone", key)
	}
}

func (c *simCaller) inspect(key string) {
	call := c.begin(c.r)
	it, err := c.c.Inspect(call.ctx, key)
	call.end("inspect", err)
	if err != nil {
		c.missed(call, "inspect "+key, key, err)
		return
	}
	want := simItem{key, "", it.Flags, it.CAS, it.State}
	call.settle("inspect "+key, nil, func(f simFact) bool { return f.status == "HD" && f.items[0] == want })
	if it.Info == nil || it.Value != nil {
		c.broken("an Inspect without Info, or with a value")
	}
	c.seen[key] = it
}
