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

// revalidate gets the item unless it has the CAS that was seen last. An old server is
// asked for the CAS first, so that there are two requests, of which the last one that
// was answered is the call's answer.
func (c *simCaller) revalidate(key string) {
	unless := c.seen[key].CAS
	if unless == 0 {
		c.get(key)
		return
	}
	call := c.begin(c.r)
	call.twice = true
	it, err := c.c.Get(call.ctx, key, client.GetOptions{UnlessCAS: unless})
	call.end("get unless", err)
	first, last := "inspect "+key, "get "+key
	sent, same := simOutcome(err) != client.NotSent, errors.Is(err, client.ErrNotModified)
	one := c.version() == "1.6.45"
	unsure := one && c.level >= simLossy // it may not have told its version
	one = one && !unsure
	c.ledger.count(first, sent && !one, !one && !unsure && (err == nil || same))
	c.ledger.count(last, sent, err == nil || one && simOutcome(err) == client.Answered)
	either := func(fits func(simFact) bool) bool {
		return c.ledger.match(first, call.invoked, fits) || c.ledger.match(last, call.invoked, fits)
	}
	switch {
	case err == nil:
		c.keep(it.Value)
		want := simItem{key, string(it.Value), it.Flags, it.CAS, 0}
		if !c.ledger.match(last, call.invoked, func(f simFact) bool {
			if f.status != "VA" {
				return false
			}
			got := f.items[0]
			got.state = 0 // which may be the first one's
			return got == want
		}) {
			c.wrong("the server has not answered what a get unless returned")
		}
		if it.CAS == unless && one {
			c.wrong("a value that was not wanted")
		}
		c.checkValue(call, key, it.Value)
		it.Value = nil
		c.seen[key] = it
	case same:
		want := simItem{key, "", it.Flags, unless, it.State}
		if it.CAS != unless || it.Value != nil || !either(func(f simFact) bool { return f.status == "HD" && f.items[0] == want }) {
			c.wrong("the server has not said that %s is unchanged", key)
		}
	case errors.Is(err, client.ErrNotFound):
		if !either(simStatus("EN")) {
			c.wrong("the server has not said that %s is missing", key)
		}
		if problem := c.model.checkMiss(key, call.invoked, c.tick()); problem != "" {
			c.wrong("a miss, but %s %s", key, problem)
		}
	}
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
