package client

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
)

// errTooLate marks an attempt to connect that took longer than Config.DialTimeout, or
// than a limit of the user's. context.DeadlineExceeded would be taken for the call's own.
var errTooLate = errors.New("no connection")

// dialError is what the calls are told of an attempt to connect that ended with err;
// ctx has bounded it.
func (cl *Client) dialError(ctx context.Context, err error) error {
	late := errors.Is(err, context.DeadlineExceeded) && ended(ctx)
	auth := errors.Is(err, ErrAuth)
	var tls *secure.HandshakeError
	switch {
	case cl.closed.Load():
		return ErrClosed
	case auth && ctx.Err() != nil:
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrAuth, tooLate(cl.cfg.DialTimeout, "Config.Credentials has not returned"))
	case late && !auth && errors.As(err, &tls):
		return fmt.Errorf("%w: %w", ErrUnavailable, tooLate(cl.cfg.DialTimeout, "TLS handshake not answered; "+tls.Remedy))
	case late && !auth && errors.Is(err, errMute):
		return fmt.Errorf("%w: %w", ErrUnavailable, tooLate(cl.cfg.DialTimeout, errMute.Error()))
	case late && !auth:
		return fmt.Errorf("%w: %w", ErrUnavailable, tooLate(cl.cfg.DialTimeout, ""))
	case errors.Is(err, context.DeadlineExceeded) && !auth:
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, errTooLate, notOurs{err})
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = notOurs{err}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// ended reports whether ctx is done. A dialer hands its deadline to the kernel, which
// may notice it a moment before the context does.
func ended(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(d)
}

// notOurs is the error of a function in Config that has given up by itself. It matches
// what err does, but for what would be taken for the end of the call.
type notOurs struct{ err error }

func (e notOurs) Error() string { return e.err.Error() }

func (e notOurs) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && target != ErrTimeout && errors.Is(e.err, target)
}

func (e notOurs) As(target any) bool { return errors.As(e.err, target) }

func tooLate(limit time.Duration, why string) error {
	err := fmt.Errorf("%w within %v (Config.DialTimeout)", errTooLate, limit)
	if why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// wordless adds to err, with which a server has ended a connection before it
// answered anything, what that may mean.
func (cl *Client) wordless(err error) error {
	switch {
	case cl.cfg.TLS != nil: // then it has spoken
		return err
	case cl.cfg.Credentials != nil:
		return fmt.Errorf("%w (without an answer: if it is started with -Z, set Config.TLS)", err)
	}
	return fmt.Errorf("%w (without a word: if it is started with -Z, set Config.TLS; with -Y, Config.Credentials)", err)
}

// cutOff reports whether the server has ended a connection.
func cutOff(err error) bool {
	return errors.Is(err, transport.ErrEOF) || errors.Is(err, syscall.ECONNRESET)
}
