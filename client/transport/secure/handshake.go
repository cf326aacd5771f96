package secure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
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
	remedyCA     = "is RootCAs in the TLS configuration set, to what the server's certificate comes from?"
	remedyNoCert = "the server asks for a client certificate, and the TLS configuration has none"
	remedyCert   = "the server has asked for a client certificate, and may have refused it"
)

// A request for a client certificate, as a server has made it.
type certRequest struct {
	made bool
	none bool // and there is none to answer it with
}

// note returns a configuration that notes whether there is such a request. Otherwise it
// does as crypto/tls does by itself.
func (r *certRequest) note(cfg *tls.Config) *tls.Config {
	cfg = cfg.Clone()
	cfg.Renegotiation = tls.RenegotiateNever // it would have to wait, within a read
	cfg.DynamicRecordSizingDisabled = true   // see queue
	choose := cfg.GetClientCertificate
	if choose == nil {
		choose = func(cri *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			for i := range cfg.Certificates {
				if cri.SupportsCertificate(&cfg.Certificates[i]) == nil {
					return &cfg.Certificates[i], nil
				}
			}
			return new(tls.Certificate), nil // none, says its documentation
		}
	}
	cfg.GetClientCertificate = func(cri *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		cert, err := choose(cri)
		r.made, r.none = true, err == nil && len(cert.Certificate) == 0
		return cert, err
	}
	return cfg
}

// remedy is what to do if it was not answered well.
func (r *certRequest) remedy() string {
	switch {
	case r.none:
		return remedyNoCert
	case r.made:
		return remedyCert
	}
	return ""
}

// Client is [tls.Client] for a connection of the caller's own: with the same errors
// as an Engine's connections. It makes the handshake, which ctx bounds, and closes nc if
// that fails.
func Client(ctx context.Context, nc net.Conn, cfg *tls.Config) (net.Conn, error) {
	var asked certRequest
	t := tls.Client(nc, asked.note(cfg))
	if err := t.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, handshakeError(err, &asked)
	}
	return &judged{Conn: t, asked: asked}, nil
}

// judged is a connection whose server may judge the client's certificate behind the
// handshake, see verdict.
type judged struct {
	*tls.Conn
	asked certRequest
	heard atomic.Bool // something was read
}

func (j *judged) Read(p []byte) (int, error) {
	n, err := j.Conn.Read(p)
	if n > 0 {
		j.heard.Store(true)
	}
	return n, j.explain(err)
}

func (j *judged) Write(p []byte) (int, error) {
	n, err := j.Conn.Write(p)
	return n, j.explain(err)
}

func (j *judged) explain(err error) error {
	if err == nil || j.heard.Load() {
		return err
	}
	return j.asked.verdict(err)
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
	c.tls = tls.Client(&c.wire, c.asked.note(cfg))
	if err := c.tls.HandshakeContext(ctx); err != nil {
		if c.wire.written() && c.handOn() == nil {
			drain(c.e.inner, c.on[:]) // an alert, which tells the server what was wrong
		}
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return handshakeError(err, &c.asked)
	}
	c.wire.wait = nil
	c.wire.setLimit(maxAnswers)
	// The last flight is the client's. It does not wait for a request: a server counts
	// who is not through.
	err := c.handOn()
	if err == nil {
		drain(c.e.inner, c.on[:])
		err = c.open()
	}
	if err != nil {
		err = c.asked.verdict(err)
	}
	return err
}

// handOn gives the inner connection what was written.
func (c *conn) handOn() error {
	_, _, err := c.wire.handOn(c.on[0].Send)
	return err
}

// handshakeError finds the remedy.
func handshakeError(err error, asked *certRequest) error {
	e := &HandshakeError{Err: err}
	var plain tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, transport.ErrClosed):
		return err // ours
	case errors.Is(err, context.Canceled):
	case isAlert(err):
		e.Remedy = asked.remedy()
	case errors.As(err, &unknown):
		e.Remedy = remedyCA
	case errors.As(err, &plain), errors.Is(err, context.DeadlineExceeded), isEnd(err):
		e.Remedy = remedyNoTLS
	}
	return e
}

// verdict is for a connection that ends with err before the server has said anything
// that counts: with TLS 1.3 it judges the client's certificate only after what the
// client takes for the whole handshake, and its alert can be lost in a reset.
func (r *certRequest) verdict(err error) error {
	var already *HandshakeError
	if r := r.remedy(); r != "" && !errors.As(err, &already) && (isAlert(err) || isEnd(err)) {
		return &HandshakeError{Err: err, Remedy: r}
	}
	return err
}

// isEnd reports whether the server has ended the connection.
func isEnd(err error) bool {
	return errors.Is(err, transport.ErrEOF) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isAlert reports whether err is an alert of the peer's, by what crypto/tls wraps it in.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
