package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/memring/memring/client"
)

// simCaller is one goroutine that uses the client.
type simCaller struct {
	*sim
	r    *rand.Rand
	seen map[string]client.Item // the last item got of each key, for swaps
	held []simLease
}

func (c *simCaller) run() {
	defer c.guard()
	defer c.releaseAll()
	for range c.ops {
		if c.r.IntN(3) > 0 {
			time.Sleep(simSpan(c.r, 10*time.Millisecond))
		}
		c.step()
		c.releaseSome()
	}
}

func (c *simCaller) step() {
	key := simKeys[c.r.IntN(len(simKeys))]
	switch n := c.r.IntN(100); {
	case n < 12:
		c.get(key)
	case n < 15:
		c.revalidate(key)
	case n < 27:
		c.getAppend(key)
	case n < 38:
		c.getLease(key)
	case n < 49:
		c.multi()
	case n < 53:
		c.multiRun()
	case n < 57:
		c.setMulti()
	case n < 60:
		c.removeMulti()
	case n < 62:
		c.touchMulti()
	case n < 65:
		c.mixed()
	case n < 72:
		c.store("set", c.c.Set, key, c.perhapsCAS(key))
	case n < 75:
		c.store("add", c.c.Add, key, 0)
	case n < 77:
		c.store("replace", c.c.Replace, key, c.perhapsCAS(key))
	case n < 81:
		c.store("append", c.c.Append, key, c.perhapsCAS(key))
	case n < 86:
		if it, ok := c.seen[key]; ok {
			c.store("cas", c.c.CompareAndSwap, key, it.CAS)
		} else {
			c.get(key)
		}
	case n < 88:
		c.remove(key)
	case n < 90:
		c.invalidate(key)
	case n < 91:
		c.inspect(key)
	case n < 93:
		c.touch(key)
	case n < 97:
		c.increment()
	default:
		c.ping()
	}
}

// found checks an item and keeps it, to see at the end that nobody has written
// to it since.
func (c *simCaller) found(call *simCall, tag, key string, value []byte, it client.Item) {
	c.settle(call, tag, key, value, it)
	c.checkValue(call, key, value)
	it.Value = nil
	c.seen[key] = it
}

func (c *simCaller) settle(call *simCall, tag, key string, value []byte, it client.Item) {
	want := simItem{key, string(value), it.Flags, it.CAS, it.State}
	call.settle(tag, nil, func(f simFact) bool { return f.status == "VA" && f.items[0] == want })
	if it.Key != key {
		c.wrong("the item of another key was returned")
	}
}

// checkValue compares a value with what its key may hold.
func (c *simCaller) checkValue(call *simCall, key string, value []byte) {
	ids, problem := simRecords(key, value)
	if problem == "" {
		problem = c.model.checkHit(key, ids, call.invoked, c.tick())
	}
	if problem != "" {
		c.wrong("the value of %s %s: %.200q", key, problem, value)
	}
}

// missed books a get that found nothing, if that is what err says.
func (c *simCaller) missed(call *simCall, tag, key string, err error) {
	call.settle(tag, err, simStatus("EN"))
	if errors.Is(err, client.ErrNotFound) {
		if problem := c.model.checkMiss(key, call.invoked, c.tick()); problem != "" {
			c.wrong("a miss, but %s %s", key, problem)
		}
	}
}

func (c *simCaller) get(key string) {
	call := c.begin(c.r)
	tag, what := "get "+key, "get"
	var it client.Item
	var err error
	if c.r.IntN(8) > 0 {
		it, err = c.c.Get(call.ctx, key)
	} else {
		ttl := c.longTTL()
		tag, what = fmt.Sprintf("touch %s %d", key, ttl/time.Second), "get and touch"
		it, err = c.c.GetAndTouch(call.ctx, key, ttl)
	}
	call.end(what, err)
	if err != nil {
		c.missed(call, tag, key, err)
		return
	}
	c.keep(it.Value)
	c.found(call, tag, key, it.Value, it)
}

// getAppend gets into a slice of its own, and then watches every byte of it.
func (c *simCaller) getAppend(key string) {
	room := make([]byte, c.r.IntN(400))
	for i := range room {
		room[i] = 0xC5
	}
	dst := room[:c.r.IntN(len(room)+1)]
	prefix := bytes.Clone(dst)
	call := c.begin(c.r)
	out, it, err := c.c.GetAppend(call.ctx, dst, key)
	call.end("get append", err)
	if !bytes.HasPrefix(out, prefix) || err != nil && len(out) != len(prefix) {
		c.broken("get append changed what was in dst, or its length: %v", err)
	}
	if err != nil {
		for i := range room {
			room[i] = 0xC6
		}
		c.keep(room)
		c.missed(call, "get "+key, key, err)
		return
	}
	c.keep(room)
	c.keep(out[:cap(out)])
	c.found(call, "get "+key, key, out[len(prefix):], it)
}

func (c *simCaller) store(what string, f func(context.Context, client.Item, ...client.StoreOptions) error, key string, cas uint64) {
	id := uint64(c.tick())
	value := simRecord(key, id, simPad(c.r.IntN(100), int(simSpan(c.r, time.Duration(c.pad)))))
	tag := fmt.Sprint("store ", id)
	kind := simStores
	if what == "append" {
		kind = simAppends
	}
	it := client.Item{Key: key, Value: value, Flags: c.r.Uint32() >> c.r.IntN(32)}
	var opts []client.StoreOptions
	var stored uint64
	if cas != 0 && what != "cas" {
		opts = []client.StoreOptions{{IfCAS: cas}}
	}
	if c.r.IntN(3) == 0 {
		opts = append(opts, client.StoreOptions{})[:1]
		opts[0].StoredCAS = &stored
	}
	if what == "cas" {
		it.CAS = cas
	}
	call := c.begin(c.r)
	change := c.model.begin(key, kind, id, call.invoked)
	err := f(call.ctx, it, opts...)
	for i := range value {
		value[i] = 0xC7 // it is ours again
	}
	c.model.end(change, c.effect(err), c.tick())
	call.end(what, err)
	c.late.gaveUp(call, key)
	var want string
	switch {
	case err == nil:
		want = "HD"
		if cas != 0 && c.model.swapped(key, cas) {
			c.wrong("two swaps of the same version of %s have succeeded", key)
		}
	case errors.Is(err, client.ErrNotStored) && (what == "add" || what == "replace" && cas == 0 || what == "append"):
		want = "NS"
	case errors.Is(err, client.ErrConflict) && cas != 0:
		want = "EX"
	case errors.Is(err, client.ErrNotFound) && cas != 0 && what != "append":
		want = "NF"
	}
	if stored == 0 {
		call.settle(tag, err, simStatus(want))
		return
	}
	if err != nil {
		c.wrong("a store that failed has told a CAS: %v", err)
	}
	call.settle(tag, err, func(f simFact) bool { return f.status == want && f.items[0].cas == stored })
	c.seen[key] = client.Item{Key: key, CAS: stored}
}

func (c *simCaller) remove(key string) {
	call := c.begin(c.r)
	change := c.model.begin(key, simRemoves, 0, call.invoked)
	err := c.c.Delete(call.ctx, key)
	c.model.end(change, c.effect(err), c.tick())
	call.end("delete", err)
	c.late.gaveUp(call, key)
	if err == nil {
		call.settle("delete "+key, err, simStatus("HD"))
	} else {
		call.settle("delete "+key, err, simStatus("NF"))
	}
}

func (c *simCaller) touch(key string) {
	ttl := c.longTTL()
	call := c.begin(c.r)
	err := c.c.Touch(call.ctx, key, ttl)
	call.end("touch", err)
	c.late.gaveUp(call, key)
	tag := fmt.Sprintf("touch %s %d", key, ttl/time.Second)
	if err != nil {
		c.missed(call, tag, key, err)
		return
	}
	call.settle(tag, err, simStatus("HD"))
}

// longTTL never ends in a simulation, and is used once.
func (s *sim) longTTL() time.Duration { return time.Hour + time.Duration(s.tick())*time.Second }

func (c *simCaller) increment() {
	which := c.r.IntN(len(simCounters))
	key, prime := simCounters[which], uint64(7+4*which)
	delta := uint64(c.tick()) * prime
	call := c.begin(c.r)
	n, err := c.c.Increment(call.ctx, key, delta, &client.Counter{})
	call.end("increment", err)
	c.late.gaveUp(call, key)
	call.settle(fmt.Sprintf("add %s %d", key, delta), err, func(f simFact) bool {
		return f.status == "VA" && f.items[0].value == fmt.Sprint(n)
	})
	if err == nil && n%prime != 0 {
		c.wrong("%s is %d, which is no sum of what was added", key, n)
	}
}

func (c *simCaller) ping() {
	call := c.begin(c.r)
	err := c.c.Ping(call.ctx)
	call.end("ping", err)
	c.countPing(err)
}

// countPing books a ping, which is one request to each server.
func (s *sim) countPing(err error) {
	errs := []error{err}
	if _, one := err.(*client.OpError); one { //nolint:errorlint // is it one, or are they joined?
		return // refused for all servers
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		errs = joined.Unwrap()
	}
	for i := range s.servers {
		outcome := client.Answered
		if i < len(errs) {
			outcome = simOutcome(errs[i])
		}
		s.ledger.count("mn", outcome != client.NotSent, outcome == client.Answered)
	}
}
