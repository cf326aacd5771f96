package client_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/memring/memring/client"
)

// simPart is what one server was asked for by a multi-get, and what came.
type simPart struct {
	keys  []string
	items map[string]simItem
	err   *client.OpError
}

// multi gets some keys, and sometimes leaves the loop before the end.
func (c *simCaller) multi() {
	keys := slices.Clone(simKeys)
	c.r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
	keys = keys[:1+c.r.IntN(len(keys))]
	parts := make([]simPart, c.servers)
	for _, k := range keys {
		p := &parts[c.selector.Pick(k)]
		p.keys, p.items = append(p.keys, k), make(map[string]simItem)
	}
	leave := -1
	if c.r.IntN(4) == 0 {
		leave = c.r.IntN(len(keys))
	}
	nested := c.r.IntN(16) == 0
	leased := c.r.IntN(2) == 0

	call := c.begin(c.r)
	var errs []error
	left := false
	for it, err := range c.multiSource(leased)(call.ctx, slices.Clone(keys)) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p := &parts[c.selector.Pick(it.Key)]
		if !slices.Contains(p.keys, it.Key) || p.items[it.Key].key != "" {
			c.wrong("get multi yielded a key twice or unasked")
			continue
		}
		p.items[it.Key] = simItem{it.Key, string(it.Value), it.Flags, it.CAS, it.State}
		if leased {
			c.hold(it)
		} else {
			c.keep(it.Value)
		}
		if nested {
			nested = false
			before := time.Now()
			c.get(it.Key)
			call.allow = time.Since(before)
		}
		if leave--; leave == -1 {
			left = true
			break
		}
	}
	call.end("get multi", errors.Join(errs...))
	for _, err := range errs {
		var op *client.OpError
		if !errors.As(err, &op) || op.Server == "" {
			return // for all keys, and nothing was sent
		}
		i := slices.Index(c.names, op.Server)
		if i < 0 || parts[i].err != nil {
			c.broken("get multi: two errors of one server, or an unknown one: %v", err)
			continue
		}
		parts[i].err = op
	}
	for i := range parts {
		if len(parts[i].keys) > 0 {
			c.settlePart(call, &parts[i], left)
		}
	}
}

// settlePart checks one server's part of a multi-get. Its reply carries no
// opaque, so at simHostile it may be an older one to the same question.
func (c *simCaller) settlePart(call *simCall, p *simPart, left bool) {
	tag := "gets " + strings.Join(p.keys, " ")
	whole := p.err == nil && !left
	outcome := client.Unknown
	switch {
	case p.err != nil:
		outcome = p.err.Outcome
		for _, k := range p.err.Keys {
			if !slices.Contains(p.keys, k) || p.items[k].key != "" {
				c.broken("get multi: an error names a key that was got or not asked for: %v", p.err)
			}
		}
		if len(p.items) > 0 && outcome == client.NotSent {
			c.broken("get multi: items of a request that was not sent: %v", p.err)
		}
	case whole:
		outcome = client.Answered
	}
	c.ledger.count(tag, outcome != client.NotSent, outcome == client.Answered)
	since := call.invoked
	if c.level == simHostile {
		since = 0
	}
	fits := func(f simFact) bool {
		n := 0
		for _, it := range f.items {
			switch got, ok := p.items[it.key]; {
			case ok && got != it:
				return false
			case ok:
				n++
			case whole:
				return false
			}
		}
		return n == len(p.items)
	}
	// A forged duplicate may also answer another question.
	if (whole || len(p.items) > 0) && c.level < simHostile && !c.ledger.match(tag, since, fits) {
		c.wrong("%s: the server has not answered what was yielded: %.300v", tag, p.items)
	}
	for _, k := range p.keys {
		it, ok := p.items[k]
		switch {
		case ok && c.level < simHostile:
			c.checkValue(call, k, []byte(it.value))
		case ok:
			if !c.ledger.got(it) {
				c.wrong("get multi: no server ever answered this for %s: %.300q", k, it.value)
			}
		case whole && c.level < simHostile:
			if problem := c.model.checkMiss(k, call.invoked, c.tick()); problem != "" {
				c.wrong("get multi passed over a key, but %s %s", k, problem)
			}
		}
	}
}

// got reports whether any multi-get was ever answered with the item.
func (l *simLedger) got(it simItem) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tag, facts := range l.facts {
		for _, f := range facts {
			if strings.HasPrefix(tag, "gets ") && slices.Contains(f.items, it) {
				return true
			}
		}
	}
	return false
}
