package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/memring/memring/client/transport"
)

// HandshakeError is why a connection has come to nothing that was made. Its text has
// nothing of the configuration in it but what certificates say.
type HandshakeError struct {
	Err error
	// Remedy is what to do about it, if that can be told.
	Remedy string
}

func (e *HandshakeError) Error() string {
	s := "TLS handshake: " + e.Err.Error()
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

func (e *HandshakeError) Unwrap() error { return e.Err }

const (
	remedyNoTLS  = "is the server started with -Z?"
	remedyNoCert = "the server asks for a client certificate, and the TLS configuration has none"
)

// Client is [tls.Client] for a connection of the caller's own: with the same errors
// as an Engine's Dial. It makes the handshake, which ctx bounds, and closes nc if that
// fails.
func Client(ctx context.Context, nc net.Conn, cfg *tls.Config) (net.Conn, error) {
	asked := false
	t := tls.Client(nc, noting(cfg, &asked))
	if err := t.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, handshakeError(err, asked)
	}
	return t, nil
}

// noting returns a configuration that notes whether the server asks for a certificate
// that there is none of.
func noting(cfg *tls.Config, asked *bool) *tls.Config {
	cfg = cfg.Clone()
	cfg.Renegotiation = tls.RenegotiateNever // it would have to wait, within a read
	if cfg.GetClientCertificate == nil && len(cfg.Certificates) == 0 {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			*asked = true
			return new(tls.Certificate), nil // none, says its documentation
		}
	}
	return cfg
}

// handshake makes the handshake in the calling goroutine, which drives the inner
// engine while it waits for the server.
func (c *conn) handshake(ctx context.Context, cfg *tls.Config) error {
	c.wire.wait = func() (err error) {
		for {
			if c.wire.in, err = c.takeEarly(); err != nil || len(c.wire.in) > 0 {
				return err
			}
			if err := c.handOn(); err != nil {
				return err
			}
			err := c.e.inner.Wait(&c.news, c.on[:], time.Time{}, ctx.Done())
			if errors.Is(err, transport.ErrCanceled) {
				return context.Cause(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	c.tls = tls.Client(&c.wire, noting(cfg, &c.asked))
	err := c.tls.HandshakeContext(ctx)
	if err == nil {
		c.wire.wait = nil
		c.wire.setLimit(maxAnswers)
		// The last flight is the client's. It does not wait for a request: a server
		// counts who is not through.
		if err = c.handOn(); err == nil {
			drain(c.e.inner, c.on[:])
			err = c.open()
		}
	} else if c.wire.written() && c.handOn() == nil {
		drain(c.e.inner, c.on[:]) // an alert, which tells the server what was wrong
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return handshakeError(err, c.asked)
}

// handOn gives the inner connection what was written.
func (c *conn) handOn() error {
	_, _, err := c.wire.handOn(c.on[0].Send)
	return err
}

// handshakeError finds the remedy.
func handshakeError(err error, asked bool) error {
	e := &HandshakeError{Err: err}
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, transport.ErrClosed):
		return err // ours
	case errors.Is(err, context.Canceled):
	case errors.As(err, &plain), errors.Is(err, context.DeadlineExceeded), errors.Is(err, transport.ErrEOF),
		errors.Is(err, syscall.ECONNRESET):
		e.Remedy = remedyNoTLS
	case asked && isAlert(err):
		e.Remedy = remedyNoCert
	}
	return e
}

// explain is for what a server says after the handshake, as TLS 1.3 has it: what is
// the matter with the client's certificate.
func (c *conn) explain(err error) error {
	if c.asked && isAlert(err) {
		return &HandshakeError{Err: err, Remedy: remedyNoCert}
	}
	return err
}

// isAlert reports whether err is an alert of the peer's, by what crypto/tls wraps it in.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
