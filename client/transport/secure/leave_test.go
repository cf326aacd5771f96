package secure_test

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
)

// Engine.Close takes leave of its servers: they see an end in good order, and not a
// connection that was cut.
func TestLeave(t *testing.T) {
	cert := selfSigned(t)
	ends := make(chan error, 1)
	server := func(nc net.Conn) {
		_, err := io.Copy(io.Discard, tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}}))
		ends <- err // of a cut connection it is io.ErrUnexpectedEOF
	}
	talk(t, inners["poll"](t), server, func(*secure.Engine, transport.Conn, *taker) {})
	require.NoError(t, <-ends)
}

// One that the server takes leave of has ended, and says so.
func TestLeaveOfServer(t *testing.T) {
	cert := selfSigned(t)
	for name, inner := range inners {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			server := func(nc net.Conn) {
				srv := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}})
				_ = srv.Handshake()
				_ = srv.CloseWrite() // close_notify, and the socket stays open
				<-gone
			}
			talk(t, inner(t), server, func(_ *secure.Engine, c transport.Conn, h *taker) {
				require.ErrorIs(t, <-h.end, transport.ErrEOF)
				require.True(t, c.Ended())
				_, err := c.Send([]byte("x"), nil, nil, nil)
				require.ErrorIs(t, err, transport.ErrEOF)
				close(gone)
			})
		})
	}
}
