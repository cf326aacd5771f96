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

// errTooLate marks an attempt to connect that took longer than Config.DialTimeout.
// context.DeadlineExceeded would be taken for the call's own.
var errTooLate = errors.New("no connection")

// dialError is what the calls are told of an attempt to connect that ended with err;
// ctx has bounded it.
func (cl *Client) dialError(ctx context.Context, err error) error {
	late := errors.Is(err, context.DeadlineExceeded)
	auth := errors.Is(err, ErrAuth)
	var tls *secure.HandshakeError
	switch {
	case cl.closed.Load():
		return ErrClosed
	case auth && ctx.Err() != nil:
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrAuth, tooLate(cl.cfg.DialTimeout, "Config.Credentials has not returned"))
	case late && !auth && errors.As(err, &tls):
		return fmt.Errorf("%w: %w", ErrUnavailable, tooLate(cl.cfg.DialTimeout, "TLS handshake not answered; "+tls.Remedy))
	case late && !auth:
		return fmt.Errorf("%w: %w", ErrUnavailable, tooLate(cl.cfg.DialTimeout, ""))
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func tooLate(limit time.Duration, why string) error {
	err := fmt.Errorf("%w within %v (Config.DialTimeout)", errTooLate, limit)
	if why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// cutOff reports whether the server has ended a connection.
func cutOff(err error) bool {
	return errors.Is(err, transport.ErrEOF) || errors.Is(err, syscall.ECONNRESET)
}
