package fallback_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/transporttest"
	"github.com/memring/memring/fallback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	newEngine := func(testing.TB) transport.Engine { return fallback.New(nil) }
	transporttest.Run(t, newEngine, transporttest.Options{ZeroAlloc: true})
}

// A dialer's connections are driven by net.Conn's methods alone, even if there
// is a socket below that could be written directly.
func TestConformanceWrapped(t *testing.T) {
	newEngine := func(testing.TB) transport.Engine {
		return fallback.New(&fallback.Config{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := new(net.Dialer).DialContext(ctx, network, addr)
				return struct{ net.Conn }{nc}, err
			},
		})
	}
	transporttest.Run(t, newEngine, transporttest.Options{Networks: []string{"unix"}, Conns: 100, ZeroAlloc: true})
}

func TestConformanceTLS(t *testing.T) {
	cert := selfSigned(t)
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // the certificate isn't what is tested
	newEngine := func(testing.TB) transport.Engine {
		return fallback.New(&fallback.Config{
			DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
				return dialer.DialContext(ctx, "tcp", addr)
			},
		})
	}
	transporttest.Run(t, newEngine, transporttest.Options{
		Networks: []string{"tls"},
		Conns:    50,
		Listen: func(tb testing.TB, _ string) net.Listener {
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
			require.NoError(tb, err)
			return handshaker{l}
		},
	})
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

func selfSigned(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

type discard struct{ closed chan error }

func (d discard) Received(window []byte) (int, []byte, error) { return len(window), nil, nil }
func (d discard) Landed(int) ([]byte, error)                  { return nil, nil }
func (d discard) Closed(err error)                            { d.closed <- err }

func TestAdopt(t *testing.T) {
	e := fallback.New(nil)
	ours, theirs := net.Pipe()
	h := discard{make(chan error, 1)}
	_, err := e.Adopt(ours, h)
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Counters().Conns)
	_, err = theirs.Write([]byte("greeting")) // no call is made: a keeper reads it
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	require.ErrorIs(t, <-h.closed, transport.ErrEOF)
	require.NoError(t, e.Close())
	n := e.Counters()
	assert.Zero(t, n.Conns)
	assert.EqualValues(t, 8, n.BytesIn, "counts of closed connections are kept")

	ours, theirs = net.Pipe()
	_, err = e.Adopt(ours, h)
	require.ErrorIs(t, err, transport.ErrClosed)
	_, err = theirs.Read(make([]byte, 1))
	require.Error(t, err, "a connection that was not adopted is left open")
}
