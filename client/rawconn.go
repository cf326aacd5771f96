package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/memring/memring/client/transport"
)

// dialRaw makes a connection to srv that is no engine's, for commands that take
// their connection over: what the server says on it has no end, or one of its own,
// so it can't be among others' replies. It speaks TLS and is authenticated as all
// are. The caller reads and writes it by itself, with deadlines of its own, and closes
// it; Client.Close does not.
//
// ctx, Config.DialTimeout and Client.Close bound the making alone. Its errors are
// those that a call has whose server can't be reached.
func (cl *Client) dialRaw(ctx context.Context, srv *server) (net.Conn, error) {
	if cl.closed.Load() {
		return nil, ErrClosed
	}
	dialCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	if t := cl.cfg.DialTimeout; t > 0 {
		var end context.CancelFunc
		dialCtx, end = context.WithTimeout(dialCtx, t)
		defer end()
	}
	defer context.AfterFunc(cl.ctx, cancel)()
	nc, err := cl.openRaw(dialCtx, srv)
	switch {
	case err == nil:
		return nc, nil
	case ctx.Err() != nil && !cl.closed.Load():
		return nil, contextError(ctx)
	}
	return nil, cl.dialError(dialCtx, err)
}

// openRaw makes a connection that can carry requests.
func (cl *Client) openRaw(ctx context.Context, srv *server) (net.Conn, error) {
	nc, err := cl.dialNet(ctx, srv.network, srv.addr)
	if err == nil && cl.cfg.TLS != nil {
		nc, err = cl.secureRaw(ctx, srv, nc)
	}
	if err != nil || !cl.greets() {
		return nc, err
	}
	_, err = cl.greet(ctx, srv, func(request []byte) (string, error) { return askRaw(ctx, nc, request) })
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	return nc, nil
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
	if err != nil {
		return nil, err
	}
	if err = nc.SetDeadline(time.Time{}); err != nil { // as the poll engine demands
		_ = nc.Close()
		return nil, fmt.Errorf("the connection takes no deadline, without which nothing could end a read: %w", err)
	}
	return nc, nil
}

// askRaw is an [askFunc].
func askRaw(ctx context.Context, nc net.Conn, request []byte) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	line, err := exchange(nc, request)
	if !stop() || err != nil && ctx.Err() != nil { // the deadline is set, or about to be
		return "", ctx.Err()
	}
	return line, err
}

func exchange(nc net.Conn, request []byte) (string, error) {
	if _, err := nc.Write(request); err != nil {
		return "", err
	}
	var line []byte
	for room := make([]byte, maxGreeting); ; {
		n, err := nc.Read(room)
		line = append(line, room[:n]...)
		switch end := bytes.IndexByte(line, '\n'); {
		case end >= 0 && end < len(line)-1:
			return "", errUnasked
		case end >= 0:
			return string(bytes.TrimSuffix(line[:end], []byte("\r"))), nil
		case err == io.EOF: //nolint:errorlint // one that is wrapped says more
			return "", transport.ErrEOF
		case err != nil:
			return "", err
		case len(line) >= maxGreeting:
			return "", errLongLine
		}
	}
}
