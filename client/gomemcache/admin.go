package memcache

import (
	"net"

	"github.com/memring/memring/client/internal/direct"
)

// Ping asks every server for a sign of life, one after the other, and returns the
// first error.
func (c *Client) Ping() error { return c.each(direct.Ping) }

// FlushAll invalidates every item on every server, one after the other, until
// one fails.
func (c *Client) FlushAll() error { return c.each(direct.FlushAll) }

// DeleteAll invalidates every item on one server: the one that the empty key
// belongs to, as in gomemcache. Where there are several, use FlushAll.
func (c *Client) DeleteAll() error {
	addr, err := c.selector.PickServer("")
	if err != nil {
		return err
	}
	_, err = c.do(addr, direct.Request{Verb: direct.FlushAll})
	return err
}

func (c *Client) each(verb direct.Verb) error {
	return c.selector.Each(func(addr net.Addr) error {
		_, err := c.do(addr, direct.Request{Verb: verb})
		return err
	})
}
