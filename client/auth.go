package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/memring/memring/reader"
)

// A Credential is what a server that was started with -Y demands of a connection. It
// shows itself to no formatting, so that it gets into no log. (Package fmt asks nothing
// of unexported fields: in one, it is printed with whatever it is in.)
type Credential struct{ User, Password string }

// Format implements [fmt.Formatter].
func (Credential) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(withheld)) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json and log/slog
// ask.
func (Credential) MarshalText() ([]byte, error) { return []byte(withheld), nil }

const withheld = "(credential)"

// maxCredential bounds a user and a password, together: what newer servers read of a
// request, a space between them. Of a line of its file memcached reads 255 bytes.
const maxCredential = 16384 - 1

// check refuses what can't be right, or could be more than a credential.
func (c Credential) check() error {
	control := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	}
	why := ""
	switch {
	case c.User == "":
		why = "the user is empty"
	case strings.ContainsAny(c.User, " :"):
		why = "the user has a space or a colon, which ends it in the server's eyes"
	case control(c.User):
		why = "the user has a control character"
	case control(c.Password):
		why = "the password has a control character"
	case len(c.User)+len(c.Password) > maxCredential:
		why = fmt.Sprintf("user and password have more than %d bytes", maxCredential)
	default:
		return nil
	}
	return fmt.Errorf("%w: Config.Credentials: %s", ErrAuth, why)
}

// request is what authenticates a connection (protocol.txt, "Authentication"). Key,
// flags and time are not looked at. The caller overwrites it when it was sent.
func (c Credential) request() []byte {
	size := len(c.User) + 1 + len(c.Password)
	b := make([]byte, 0, size+32) // in one piece: growing would leave copies behind
	b = append(b, "set auth 0 0 "...)
	b = strconv.AppendInt(b, int64(size), 10)
	b = append(append(append(b, crlf...), c.User...), ' ')
	return append(append(b, c.Password...), crlf...)
}

// askFunc sends a request on a new connection, alone, and returns the line of its
// reply.
type askFunc func(request []byte) (line string, err error)

// greets reports whether new connections are asked for their server's version before
// they carry requests.
func (cl *Client) greets() bool { return cl.cfg.TLS != nil || cl.cfg.Credentials != nil }

// greet makes a new connection fit for requests, or says why it is not. What it is
// asked first is harmless: a server that demands authentication answers with an error,
// and only such a one is sent a credential, for another would store it as an item. It
// also brings to light what a server says only after the TLS handshake. open tells that
// there is a credential and the server wanted none.
func (cl *Client) greet(ctx context.Context, srv *server, ask askFunc) (open bool, err error) {
	ask = noteMute(ask)
	line, err := ask([]byte("version\r\n"))
	switch {
	case err != nil && cutOff(err):
		return false, cl.wordless(err)
	case err != nil:
		return false, err
	}
	demands := line == unauthenticated
	switch {
	case demands && cl.cfg.Credentials == nil:
		return false, errNoCredentials
	case demands:
		return false, cl.authenticate(ctx, srv, ask)
	case !strings.HasPrefix(line, "VERSION "):
		return false, strangeReply(line)
	case cl.cfg.Credentials != nil && !cl.cfg.AllowUnauthenticated:
		return false, fmt.Errorf("%w: server demands no authentication"+
			" (start it with -Y, or set Config.AllowUnauthenticated until all are)", ErrAuth)
	}
	return cl.cfg.Credentials != nil, nil
}

// errMute tells a server that is stalled from one that can't be reached.
var errMute = errors.New("the server has accepted it and does not answer")

func noteMute(ask askFunc) askFunc {
	return func(request []byte) (string, error) {
		line, err := ask(request)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errMute, err)
		}
		return line, err
	}
}

// unauthenticated is what a server with -Y answers to whoever has not said a credential.
const unauthenticated = "CLIENT_ERROR unauthenticated"

// errNoCredentials is for a server that demands what the client does not have.
var errNoCredentials = fmt.Errorf("%w: server demands authentication (set Config.Credentials)", ErrAuth)

func (cl *Client) authenticate(ctx context.Context, srv *server, ask askFunc) error {
	cred, err := cl.cfg.Credentials(ctx, srv.name)
	if err != nil {
		return fmt.Errorf("%w: Config.Credentials: %w", ErrAuth, err)
	}
	if err := cred.check(); err != nil {
		return err
	}
	request := cred.request()
	defer clear(request)
	line, err := ask(request)
	switch {
	case err != nil:
		return err
	case line == "STORED":
		return nil
	case strings.HasPrefix(line, "CLIENT_ERROR "):
		return fmt.Errorf("%w: server refuses the credential", ErrAuth)
	}
	return strangeReply(line)
}

var errNoMemcached = errors.New("server answers as no memcached does")

// strangeReply is the error of a line that is no answer. It does not quote it.
func strangeReply(line string) error {
	switch {
	case line == "ERROR Too many open connections":
		return &reader.DesyncError{Reason: reader.ReasonTooManyConns}
	case strings.HasPrefix(line, "ERROR"), strings.HasPrefix(line, "SERVER_ERROR "):
		return &ServerError{Line: line}
	}
	return errNoMemcached
}
