package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memring/memring/client/internal/direct"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/reader"
)

// maxTries bounds how often a request goes to another connection after one has
// died before any of its bytes was sent. Beyond that it may meet all those that
// were there: a server that ends closes them together.
func (p *pool) maxTries() int { return 4 + len(p.slots) }

// usable says why no call can be made.
func (cl *Client) usable(ctx context.Context) error {
	switch {
	case cl == nil || cl.engines == nil:
		return ErrNilClient
	case cl.closed.Load():
		return ErrClosed
	case ctx.Err() != nil:
		return contextError(ctx)
	}
	return nil
}

// take gets an op for a call, or says why there can be none. The op is the
// call's until it is put back or abandoned.
func (cl *Client) take(ctx context.Context, v verb, key string) (*op, error) {
	if err := cl.usable(ctx); err != nil {
		return nil, &OpError{Op: v.String(), Outcome: NotSent, Err: err}
	}
	o := cl.chooseEngine().ops.Get().(*op)
	o.begin(v, key)
	return o, nil
}

// takeKeyed is take for the operations on one key: it checks the key and
// chooses the server.
func (cl *Client) takeKeyed(ctx context.Context, v verb, key string) (*op, *server, error) {
	o, err := cl.take(ctx, v, key)
	if err != nil {
		return nil, nil, err
	}
	var srv *server
	if cl.keys == (keyspace{}) {
		err = checkKey(key) // as it is
	} else {
		o.wire, err = cl.keys.wire(key)
	}
	if err == nil {
		srv, err = cl.server(o.wire.stored)
	}
	if err != nil {
		return nil, nil, o.refuse(err)
	}
	return o, srv, nil
}

// refuse puts o back and makes the error of a call that sends nothing.
func (o *op) refuse(err error) error {
	e := &OpError{Op: o.verb.String(), Err: err, Outcome: NotSent}
	o.put()
	return e
}

// refuseAt is refuse once the server is known.
func (o *op) refuseAt(srv *server, err error) error {
	e := &OpError{Op: o.verb.String(), Server: srv.name, Err: err, Outcome: NotSent}
	o.put()
	return e
}

// put gives an op back after its call.
func (o *op) put() { o.eng.recycle(o) }

func (s *engineSlot) recycle(o *op) {
	o.scrub()
	s.ops.Put(o)
}

// deadline is when a call that starts now must return: never if it is zero.
func (cl *Client) deadline(ctx context.Context) time.Time {
	var d time.Time
	if cl.cfg.OpTimeout > 0 {
		d = time.Now().Add(cl.cfg.OpTimeout)
	}
	if c, ok := ctx.Deadline(); ok && (d.IsZero() || c.Before(d)) {
		return c
	}
	return d
}

// contextError is the error of a context that is done.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		err = ErrTimeout
	}
	if cause := context.Cause(ctx); cause != ctx.Err() { //nolint:errorlint // is it the very same?
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// waitError is the error of a call whose wait has ended with err, and counts it.
func (cl *Client) waitError(ctx context.Context, err error) error {
	if errors.Is(err, transport.ErrClosed) {
		return ErrClosed
	}
	cl.timeouts.Add(1)
	if errors.Is(err, transport.ErrCanceled) {
		return contextError(ctx)
	}
	return ErrTimeout
}

// lostError is the error of a request that found only dying connections.
func (cl *Client) lostError() error {
	if cl.closed.Load() {
		return ErrClosed
	}
	return ErrConnLost
}

// do carries o out on srv by a deadline. If it returns nil, o holds the result, and
// the caller puts it back; otherwise o is gone.
func (cl *Client) do(ctx context.Context, deadline time.Time, srv *server, o *op) error {
	p := srv.pools[o.eng.i]
	for try := 1; ; try++ {
		c, err := p.get(ctx, deadline)
		if err == nil && o.needs() != 0 {
			if err = cl.qualify(ctx, deadline, c, o); err != nil && !errors.Is(err, errConnDown) {
				return o.refuseAt(srv, err)
			}
		}
		if err == nil {
			err = c.push(o)
		}
		if errors.Is(err, errConnDown) && try < p.maxTries() {
			continue // it died in between; nothing was queued
		}
		if err != nil {
			v := o.verb
			o.put()
			switch {
			case errors.Is(err, errConnDown):
				err = cl.lostError()
			case ctx.Err() != nil:
				err = contextError(ctx)
			}
			if errors.Is(err, ErrTimeout) || ctx.Err() != nil {
				cl.timeouts.Add(1)
				err = &direct.NoConnection{Err: fmt.Errorf("%w while connecting", err)}
			}
			return &OpError{Op: v.String(), Server: srv.name, Err: err, Outcome: NotSent}
		}
		if gone := cl.await(ctx, deadline, srv, o); gone != nil {
			return gone
		}
		if o.err == nil {
			return nil
		}
		var lost *connError
		if errors.As(o.err, &lost) && lost.outcome == NotSent && try < p.maxTries() && !cl.closed.Load() {
			o.err, o.state = nil, opPending
			continue
		}
		return o.errorOf(srv)
	}
}

// await waits for the end of an op that was pushed. If it returns an error, the call
// has given up, and o is gone.
func (cl *Client) await(ctx context.Context, deadline time.Time, srv *server, o *op) *OpError {
	if err := o.eng.Wait(&o.own, o.on[:1], deadline, ctx.Done()); err != nil {
		if gone := cl.giveUp(ctx, srv, o, err); gone != nil {
			return gone
		}
	}
	o.reclaim()
	return nil
}

// giveUp ends a call whose wait has ended with err. It returns nil if the reply
// has come after all.
func (cl *Client) giveUp(ctx context.Context, srv *server, o *op, err error) *OpError {
	v, p := o.verb, o.c.p
	outcome := Unknown
	if o.c.retract(o) {
		outcome = NotSent // the FIFO has the void now, and recycles it
	} else if o.reclaim(); !o.abandon(nil) {
		o.own.Take() // done is signalled under the op's lock
		return nil
	}
	err = cl.waitError(ctx, err)
	p.gaveUp(outcome, err)
	return &OpError{Op: v.String(), Server: srv.name, Err: err, Outcome: outcome}
}

// errorOf puts o back and returns the error that it ended with.
func (o *op) errorOf(srv *server) error {
	err := opErrorOf(o.verb, srv, o.err)
	o.put()
	return err
}

// opErrorOf is the error of an op that ended with err.
func opErrorOf(v verb, srv *server, err error) error {
	var lost *connError
	if errors.As(err, &lost) {
		return &OpError{Op: v.String(), Server: srv.name, Err: lost.err, Outcome: lost.outcome}
	}
	return &OpError{Op: v.String(), Server: srv.name, Err: err}
}

// finish turns the reply's status into the call's error and puts o back.
func (o *op) finish(srv *server) error {
	err := statusError(o.verb, srv, o.status)
	o.put()
	return err
}

// statusError is the error that a reply's status stands for, nil if none.
func statusError(v verb, srv *server, status reader.Status) error {
	err := ErrServer
	switch status {
	case reader.OK:
		return nil
	case reader.Miss, reader.NotFound:
		return srv.misses[v]
	case reader.Unchanged:
		return srv.unchanged
	case reader.NotStored:
		err = ErrNotStored
	case reader.Exists:
		err = ErrConflict
	}
	return &OpError{Op: v.String(), Server: srv.name, Err: err}
}
