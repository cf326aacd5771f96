package secure_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
	"github.com/memring/memring/client/transport/transporttest"
	"github.com/memring/memring/fallback"
	"github.com/memring/memring/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inners are the engines below.
var inners = map[string]func(tb testing.TB) secure.Inner{
	"poll": func(testing.TB) secure.Inner { return fallback.New(nil) },
	"wrapped": func(testing.TB) secure.Inner {
		return fallback.New(&fallback.Config{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := new(net.Dialer).DialContext(ctx, network, addr)
				return struct{ net.Conn }{nc}, err
			},
		})
	},
	"uring": func(tb testing.TB) secure.Inner {
		e, err := ring.New()
		if err != nil {
			tb.Skipf("there is no io_uring here, so this cannot be tested: %v", err)
		}
		return e
	},
}

// An engine that dials the sockets behind the suite's networks. They have names of
// their own because no connection to their listeners is a plain socket.
type renamed struct{ *secure.Engine }

func (r renamed) Dial(ctx context.Context, network, addr string, h transport.Handler) (transport.Conn, error) {
	return r.Engine.Dial(ctx, network[len("tls-"):], addr, h)
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		inner    string
		networks []string
		version  uint16
	}{
		{"poll", []string{"tls-tcp", "tls-unix"}, tls.VersionTLS13},
		{"uring", []string{"tls-tcp", "tls-unix"}, tls.VersionTLS13},
		{"wrapped", []string{"tls-unix"}, tls.VersionTLS13},
		{"poll", []string{"tls-tcp"}, tls.VersionTLS12},
		{"uring", []string{"tls-unix"}, tls.VersionTLS12},
	} {
		t.Run(c.inner+"/"+tls.VersionName(c.version), func(t *testing.T) {
			newEngine := func(tb testing.TB) transport.Engine {
				return renamed{secure.New(inners[c.inner](tb), func(string, string) (*tls.Config, error) {
					return &tls.Config{InsecureSkipVerify: true, MaxVersion: c.version}, nil // the certificate isn't what is tested
				})}
			}
			cert := selfSigned(t)
			transporttest.Run(t, newEngine, transporttest.Options{
				Networks: c.networks,
				Conns:    50,
				Listen: func(tb testing.TB, network string) net.Listener {
					return handshaker{tls.NewListener(listen(tb, network[len("tls-"):]), &tls.Config{Certificates: []tls.Certificate{cert}})}
				},
			})
		})
	}
}

// A handshaker's connections are ready even if their script never reads.
type handshaker struct{ net.Listener }

func (h handshaker) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	if err == nil {
		_ = c.(*tls.Conn).Handshake() // an error comes again at the first read
	}
	return c, err
}

func listen(tb testing.TB, network string) net.Listener {
	addr := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "memring")
		require.NoError(tb, err)
		tb.Cleanup(func() { _ = os.RemoveAll(dir) })
		addr = filepath.Join(dir, "s")
	}
	l, err := net.Listen(network, addr)
	require.NoError(tb, err)
	return l
}

func selfSigned(tb testing.TB) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"server"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(tb, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
