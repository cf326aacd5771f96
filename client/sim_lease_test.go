package client_test

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/memring/memring/client"
)

// simLease is a lease that a caller holds, and what it was lent.
type simLease struct {
	client.Lease
	was []byte
}

func (c *simCaller) getLease(key string) {
	call := c.begin(c.r)
	l, err := c.c.GetLease(call.ctx, key)
	call.end("get lease", err)
	if err != nil {
		if l.Key != "" || l.Value != nil || l.Release() != nil {
			c.broken("get lease: something is lent with an error: %v", err)
		}
		c.missed(call, "get "+key, key, err)
		return
	}
	c.hold(l)
	c.found(call, "get "+key, key, l.Value, l.Item)
}

// multiSource is either way to get many items. Those of GetMulti come in leases that
// lend nothing.
func (c *simCaller) multiSource(leased bool) func(context.Context, []string, ...client.GetOptions) iter.Seq2[client.Lease, error] {
	if leased {
		return c.c.GetMultiLease
	}
	return func(ctx context.Context, keys []string, opts ...client.GetOptions) iter.Seq2[client.Lease, error] {
		return func(yield func(client.Lease, error) bool) {
			for it, err := range c.c.GetMulti(ctx, keys, opts...) {
				if !yield(client.Lease{Item: it}, err) {
					return
				}
			}
		}
	}
}

func (c *simCaller) hold(l client.Lease) {
	c.held = append(c.held, simLease{l, bytes.Clone(l.Value)})
}

// releaseSome ends some leases, and loses a few.
func (c *simCaller) releaseSome() {
	keep := c.held[:0]
	for _, l := range c.held {
		switch c.r.IntN(12) {
		case 0:
			c.keep(l.Value)
		case 1, 2, 3, 4:
			c.release(l)
		default:
			keep = append(keep, l)
		}
	}
	c.held = keep
}

func (c *simCaller) releaseAll() {
	for _, l := range c.held {
		c.release(l)
	}
	c.held = nil
}

// release ends a lease, whose value nobody may have written to. It leaves behind
// what is no record, for whoever would be lent it as his own.
func (c *simCaller) release(l simLease) {
	if !bytes.Equal(l.Value, l.was) {
		c.wrong("a value has changed while it was lent: %.200q was %.200q", l.Value, l.was)
	}
	value, other := l.Value, l.Lease
	scribble(value)
	if err := l.Release(); err != nil || l.Value != nil {
		c.broken("release: %v", err)
	}
	for _, again := range []*client.Lease{&l.Lease, &other} {
		if err := again.Release(); !errors.Is(err, client.ErrReleased) {
			c.broken("release, again: %v", err)
		}
	}
	if c.config.PoisonLeases && len(bytes.Trim(value, "\xDB")) > 0 {
		c.broken("released memory is not poisoned")
	}
}
