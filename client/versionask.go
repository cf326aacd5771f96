package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memring/memring/reader"
)

// qualify makes sure that the server at the other end of c has what o needs. It is
// known for each connection, since a server may be replaced by one of another
// version while the client lives, and asked over that very connection, the first time
// that something needs it. Only o's call may use this; it waits until the deadline.
//
// If the server lacks something, o is changed to do without if that can be done
// (see [request.degrade]), and else refused.
func (cl *Client) qualify(ctx context.Context, deadline time.Time, c *conn, o *op) error {
	v := c.version.Load()
	if v == nil {
		var err error
		if v, err = cl.askVersion(ctx, deadline, c, o.eng); err != nil {
			return err
		}
	}
	return v.suit(o, c.p.srv)
}

// suit makes o one that a server of this version can carry out, or says why it cannot.
func (s *serverVersion) suit(o *op, srv *server) error {
	missing := s.lacks(o.needs())
	if missing == 0 {
		return nil
	}
	if missing = o.degrade(missing); missing != 0 {
		return s.unsupported(missing, srv.name)
	}
	return nil
}

// askVersion asks a connection's server for its version, and notes it. The error is
// errConnDown if another connection should be tried.
func (cl *Client) askVersion(ctx context.Context, deadline time.Time, c *conn, eng *engineSlot) (*serverVersion, error) {
	o := eng.ops.Get().(*op)
	o.begin(verbVersion, "")
	if err := c.push(o); err != nil {
		o.put()
		return nil, err
	}
	if gone := cl.await(ctx, deadline, c.p.srv, o); gone != nil {
		return nil, askError(gone.Err)
	}
	text, status, err := strings.TrimPrefix(o.extra().line, "VERSION "), o.status, o.err
	o.put()
	var lost *connError
	switch {
	case errors.As(err, &lost) && lost.outcome == NotSent:
		return nil, errConnDown
	case errors.As(err, &lost):
		return nil, askError(lost.err)
	case status != reader.OK:
		text = "" // an error line: it does not say
	}
	v := versionOf(text)
	if text != "" { // or it may tell the next time
		c.version.Store(v)
	}
	return v, nil
}

func askError(err error) error { return fmt.Errorf("%w while asking for the server's version", err) }
