package secure_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport/secure"
)

// A server that ends the handshake is told apart from other faults, wherever in a record
// it does so, for connections of the caller's own as for those of an engine.
func TestHandshakeCutShort(t *testing.T) {
	for _, said := range []string{"", "\x16", "\x16\x03\x03\x00\x7a\x02"} {
		cut := func(nc net.Conn) {
			_, _ = nc.Read(make([]byte, 64<<10)) // what is not read would be a reset
			_, _ = io.WriteString(nc, said)
			_ = nc.Close()
		}
		var e *secure.HandshakeError

		ours, theirs := net.Pipe()
		go cut(theirs)
		_, err := secure.Client(t.Context(), ours, &tls.Config{InsecureSkipVerify: true})
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Remedy, "-Z", "%q", said)

		for name, inner := range inners {
			t.Run(fmt.Sprintf("%s/%d", name, len(said)), func(t *testing.T) {
				eng := secure.New(inner(t), func(string, string) (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil })
				l := listen(t, "unix")
				go func() {
					if nc, err := l.Accept(); err == nil {
						cut(nc)
					}
				}()
				_, err := eng.Dial(t.Context(), "unix", l.Addr().String(), &taker{})
				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Remedy, "-Z")
				require.NoError(t, eng.Close())
				require.NoError(t, l.Close())
			})
		}
	}
}
