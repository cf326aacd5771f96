package client_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/memring/memring/client"
)

// batch draws a context for a call of n requests, which OpTimeout bounds only as far
// as nothing comes.
func (c *simCaller) batch(n int) *simCall {
	call := c.begin(c.r)
	call.earliest = call.deadline
	call.deadline = call.started.Add(time.Duration(n+1) * c.config.OpTimeout)
	if d, ok := call.ctx.Deadline(); ok && d.Before(call.deadline) {
		call.deadline = d
	}
	return call
}

// endBatch ends a call for keys and returns the error of each. One without a name is
// not reported late.
func (c *simCaller) endBatch(call *simCall, what string, keys []string, err error) []error {
	now := time.Now()
	call.end(what, nil) // in time?
	errs := make([]error, len(keys))
	var b *client.BatchError
	switch {
	case errors.As(err, &b) && len(b.Errs) == len(keys):
		copy(errs, b.Errs)
	case err != nil: // no call could be made at all
		for i := range errs {
			errs[i] = err
		}
	}
	for i, err := range errs {
		call.gaveUp = false
		call.judge(what, err, now)
		if keys[i] != "" {
			c.late.gaveUp(call, keys[i])
		}
	}
	return errs
}

// someKeys are some of the keys, some of them twice.
func (c *simCaller) someKeys() []string {
	keys := make([]string, 1+c.r.IntN(2*len(simKeys)))
	for i := range keys {
		keys[i] = simKeys[c.r.IntN(len(simKeys))]
	}
	return keys
}

func (c *simCaller) setMulti() {
	keys := c.someKeys()
	items := make([]client.Item, len(keys))
	ids := make([]uint64, len(keys))
	changes := make([]*simChange, len(keys))
	for i, k := range keys {
		ids[i] = uint64(c.tick())
		items[i] = client.Item{Key: k, Value: simRecord(k, ids[i], simPad(c.r.IntN(100), int(simSpan(c.r, time.Duration(c.pad)))))}
	}
	call := c.batch(len(keys))
	for i, k := range keys {
		changes[i] = c.model.begin(k, simStores, ids[i], call.invoked)
	}
	err := c.c.SetMulti(call.ctx, items)
	for i := range items {
		scribble(items[i].Value) // it is ours again
	}
	errs := c.endBatch(call, "set multi", keys, err)
	for i, err := range errs {
		c.model.end(changes[i], c.effect(err), c.tick())
		call.settle(fmt.Sprint("store ", ids[i]), err, simStatus("HD"))
	}
}

// quiet says what the error of a request that was made quietly means: at simHostile
// a reply may be lost and another one's taken for it, which nobody could tell, since
// there is nothing in it that it could be told by.
func (c *simCaller) quiet(err error) simEffect {
	if c.level == simHostile && simOutcome(err) == client.Answered {
		return simMaybe
	}
	return c.effect(err)
}

func (c *simCaller) removeMulti() {
	keys := c.someKeys()
	call := c.batch(len(keys))
	call.quiet = true
	changes := make([]*simChange, len(keys))
	for i, k := range keys {
		changes[i] = c.model.begin(k, simRemoves, 0, call.invoked)
	}
	errs := c.endBatch(call, "delete multi", keys, c.c.DeleteMulti(call.ctx, keys))
	for i, err := range errs {
		c.model.end(changes[i], c.quiet(err), c.tick())
		call.settle("delete "+keys[i], err, c.hidden(err == nil, "HD", "NF"))
	}
	c.countRuns(keys, errs)
}

// hidden fits the answer to a quiet request: nominal, which the server leaves out, or
// the other one.
func (c *simCaller) hidden(isNominal bool, nominal, other string) func(simFact) bool {
	switch {
	case c.level == simHostile:
		return func(simFact) bool { return true }
	case isNominal:
		return simStatus("", nominal)
	}
	return simStatus(other)
}

// countRuns books the mn of the runs that were made for keys, one for each server. That
// one was answered nobody is told: a connection that ends between the last key's answer
// and the mn costs no key anything.
func (c *simCaller) countRuns(keys []string, errs []error) {
	sent := make(map[int]bool)
	for i, k := range keys {
		server := c.selector.Pick(k)
		sent[server] = sent[server] || simOutcome(errs[i]) != client.NotSent
	}
	for _, was := range sent {
		c.ledger.count("mn", was, false)
	}
}

func (c *simCaller) touchMulti() {
	keys, ttl := c.someKeys(), c.longTTL()
	call := c.batch(len(keys))
	errs := c.endBatch(call, "touch multi", keys, c.c.TouchMulti(call.ctx, keys, ttl))
	for i, err := range errs {
		tag := fmt.Sprintf("touch %s %d", keys[i], ttl/time.Second)
		if err != nil {
			c.missed(call, tag, keys[i], err)
		} else {
			call.settle(tag, err, simStatus("HD"))
		}
	}
}

// multiRun is a multi-get that goes as runs of quiet mg.
func (c *simCaller) multiRun() {
	keys := c.someKeys()
	times := make(map[string]int)
	for _, k := range keys {
		times[k]++
	}
	leave := -1
	if c.r.IntN(4) == 0 {
		leave = c.r.IntN(len(keys))
	}
	leased := c.r.IntN(2) == 0
	call := c.begin(c.r)
	call.quiet = true
	var errs []error
	var hits []client.Lease
	left := false
	for it, err := range c.multiSource(leased)(call.ctx, keys, client.GetOptions{NoBump: true}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if hits = append(hits, it); leased {
			c.hold(it)
		} else {
			c.keep(it.Value)
		}
		if leave--; leave == -1 {
			left = true
			break
		}
	}
	call.end("get multi", errors.Join(errs...))
	of := make([]error, len(keys)) // each key's error
	was := make([]bool, len(keys)) // it was got
	for _, it := range hits {
		if times[it.Key]--; times[it.Key] < 0 {
			c.wrong("get multi yielded a key unasked, or too often")
			continue
		}
		for i, k := range keys {
			if k == it.Key && !was[i] {
				was[i] = true
				break
			}
		}
		c.found(call, "get "+it.Key, it.Key, it.Value, it.Item)
	}
	for _, err := range errs {
		var op *client.OpError
		if !errors.As(err, &op) {
			continue // judged before
		}
		for _, k := range op.Keys {
			if times[k]--; times[k] < 0 {
				c.broken("get multi: an error names a key that was got or not asked for: %v", err)
			}
			for i := range keys {
				if keys[i] == k && !was[i] && of[i] == nil {
					of[i] = err
					break
				}
			}
		}
	}
	for i, k := range keys {
		switch {
		case was[i]:
		case of[i] != nil:
			call.settle("get "+k, of[i], func(simFact) bool { return true })
		case left:
			of[i] = &client.OpError{Outcome: client.Unknown}
			c.ledger.count("get "+k, true, false)
		default:
			call.settle("get "+k, nil, c.hidden(true, "EN", ""))
			if c.level < simHostile {
				if problem := c.model.checkMiss(k, call.invoked, c.tick()); problem != "" {
					c.wrong("get multi passed over a key, but %s %s", k, problem)
				}
			}
		}
	}
	c.countRuns(keys, of)
}

// mixed is a Batch. Its requests for a key are carried out in order.
func (c *simCaller) mixed() {
	var b client.Batch
	keys := c.someKeys()
	checks := make([]func(call *simCall), len(keys))
	begins := make([]func(now int64), len(keys))
	for i, k := range keys {
		switch c.r.IntN(3) {
		case 0:
			r := b.Get(k)
			checks[i] = func(call *simCall) {
				if it, err := r.Item(); err != nil {
					c.missed(call, "get "+k, k, err)
				} else {
					c.keep(it.Value)
					c.found(call, "get "+k, k, it.Value, it)
				}
			}
		case 1:
			id := uint64(c.tick())
			r := b.Set(client.Item{Key: k, Value: simRecord(k, id, "x")})
			var change *simChange
			begins[i] = func(now int64) { change = c.model.begin(k, simStores, id, now) }
			checks[i] = func(call *simCall) {
				c.model.end(change, c.effect(r.Err()), c.tick())
				call.settle(fmt.Sprint("store ", id), r.Err(), simStatus("HD"))
			}
		case 2:
			r := b.Delete(k)
			var change *simChange
			begins[i] = func(now int64) { change = c.model.begin(k, simRemoves, 0, now) }
			checks[i] = func(call *simCall) {
				c.model.end(change, c.effect(r.Err()), c.tick())
				call.settle("delete "+k, r.Err(), simStatus(map[bool]string{true: "HD", false: "NF"}[r.Err() == nil]))
			}
		}
	}
	call := c.batch(len(keys))
	for _, begin := range begins {
		if begin != nil {
			begin(call.invoked)
		}
	}
	writes := make([]string, len(keys)) // of which late ones are reported
	for i, k := range keys {
		if begins[i] != nil {
			writes[i] = k
		}
	}
	c.endBatch(call, "batch", writes, c.c.Do(call.ctx, &b))
	for _, check := range checks {
		check(call)
	}
}
