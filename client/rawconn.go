package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// dialRaw makes a connection to srv that is no engine's, for commands that take
// their connection over: what the server says on it has no end, or one of its own,
// so it can't be among others' replies. The caller reads and writes it by itself,
// with deadlines of its own, and closes it; Client.Close does not.
//
// ctx, Config.DialTimeout and Client.Close bound the making alone. Its errors are
// those that a call has whose server can't be reached.
func (cl *Client) dialRaw(ctx context.Context, srv *server) (net.Conn, error) {
	if cl.closed.Load() {
		return nil, ErrClosed
	}
	dialCtx, cancel := context.WithCancel(ctx)
	if t := cl.cfg.DialTimeout; t > 0 {
		dialCtx, cancel = context.WithTimeout(ctx, t)
	}
	defer cancel()
	defer context.AfterFunc(cl.ctx, cancel)()
	nc, err := cl.dialNet(dialCtx, srv.network, srv.addr)
	switch {
	case err == nil:
		return nc, nil
	case cl.closed.Load():
		return nil, ErrClosed
	case ctx.Err() != nil:
		return nil, contextError(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, tooLate(cl.cfg.DialTimeout)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// dialNet dials as the poll engine does.
func (cl *Client) dialNet(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := cl.cfg.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	nc, err := dial(ctx, network, addr)
	if err == nil && nc == nil {
		err = errors.New("Config.DialContext returned no connection and no error")
	}
	return nc, err
}

// tooLate is the error of an attempt to connect that took longer than limit.
func tooLate(limit time.Duration) error {
	return fmt.Errorf("%w: no connection within %v (Config.DialTimeout)", ErrUnavailable, limit)
}
