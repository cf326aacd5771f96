package client

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// rawClient makes a client that is closed with the test.
func rawClient(t *testing.T, cfg *Config, server string) *Client {
	cl, err := New([]string{server}, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	return cl
}

// sayRaw makes one request on a raw connection and returns the line of its reply.
func sayRaw(t *testing.T, nc net.Conn, request string) string {
	require.NoError(t, nc.SetDeadline(time.Now().Add(20*time.Second)))
	_, err := io.WriteString(nc, request)
	require.NoError(t, err)
	line, err := bufio.NewReader(nc).ReadString('\n')
	require.NoError(t, err)
	return line
}

func TestDialRaw(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: network})
		cl := rawClient(t, nil, mc.Addr())
		nc, err := cl.dialRaw(t.Context(), cl.servers[0])
		require.NoError(t, err)
		require.Equal(t, "MN\r\n", sayRaw(t, nc, "mn\r\n"))
		require.NoError(t, nc.Close())

		require.NoError(t, mc.Stop())
		_, err = cl.dialRaw(t.Context(), cl.servers[0])
		require.ErrorIs(t, err, ErrUnavailable)
		require.NoError(t, cl.Close())
		_, err = cl.dialRaw(t.Context(), cl.servers[0])
		require.ErrorIs(t, err, ErrClosed)
	}
}

// A raw connection speaks TLS and is authenticated as the others are, and what it is
// refused for is said as well.
func TestDialRawGuarded(t *testing.T) {
	pair, pool := selfSigned(t)
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		TLS:  &tls.Config{Certificates: []tls.Certificate{pair}},
		Auth: func(user, password string) bool { return user == "user" && password == "secret" },
	})
	for _, c := range []struct {
		pool     *x509.CertPool
		password string
		want     error
	}{{pool, "secret", nil}, {pool, "wrong", ErrAuth}, {x509.NewCertPool(), "secret", ErrUnavailable}, {pool, "bad\n", ErrAuth}} {
		cl := rawClient(t, &Config{
			TLS: FixedTLS(&tls.Config{RootCAs: c.pool}),
			Credentials: func(context.Context, string) (Credential, error) {
				return Credential{User: "user", Password: c.password}, nil
			},
		}, srv.Addr())
		nc, err := cl.dialRaw(t.Context(), cl.servers[0])
		require.ErrorIs(t, err, c.want)
		if err != nil {
			require.ErrorIs(t, err, ErrUnavailable)
			continue
		}
		require.Equal(t, "MN\r\n", sayRaw(t, nc, "mn\r\n"))
		require.NoError(t, nc.Close())
	}
	for _, line := range srv.Unauthenticated() {
		require.Contains(t, []string{"version", "set auth 0 0 11", "set auth 0 0 10"}, line)
	}
}

// A server that does not answer ends at the limit, and what ends it is told apart.
func TestDialRawMute(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnMute },
	})
	creds := func(context.Context, string) (Credential, error) { return Credential{User: "u"}, nil }
	cl := rawClient(t, &Config{Credentials: creds, DialTimeout: 300 * time.Millisecond}, srv.Addr())
	_, err := cl.dialRaw(t.Context(), cl.servers[0])
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "Config.DialTimeout")
	require.ErrorContains(t, err, "does not answer", "it is there")
	err = cl.Set(t.Context(), Item{Key: "k"})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "does not answer")
	require.NotErrorIs(t, err, context.DeadlineExceeded)

	cl = rawClient(t, &Config{Credentials: creds, DialTimeout: -1}, srv.Addr())
	errs := make(chan error)
	go func() { _, err := cl.dialRaw(t.Context(), cl.servers[0]); errs <- err }()
	require.NoError(t, srv.Wait(t.Context(), func() bool { return srv.RequestCount() == 3 }))
	require.NoError(t, cl.Close())
	require.ErrorIs(t, <-errs, ErrClosed)
}

// selfSigned makes a certificate for 127.0.0.1.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// What ends the making of a raw connection is told apart.
func TestDialRawEnds(t *testing.T) {
	dialling := make(chan struct{}, 1)
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialling <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	cl := rawClient(t, &Config{DialContext: hang, DialTimeout: time.Millisecond}, "127.0.0.1:1")
	_, err := cl.dialRaw(t.Context(), cl.servers[0])
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "Config.DialTimeout")
	<-dialling

	cl = rawClient(t, &Config{DialContext: hang, DialTimeout: -1}, "127.0.0.1:1")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the cause")
	errs := make(chan error)
	ask := func() { _, err := cl.dialRaw(ctx, cl.servers[0]); errs <- err }
	go ask()
	<-dialling
	cancel(cause)
	require.ErrorIs(t, <-errs, cause)

	ctx = t.Context()
	go ask()
	<-dialling
	require.NoError(t, cl.Close())
	require.ErrorIs(t, <-errs, ErrClosed)
}

// latecomer is a connection whose replies come just when the making of it has ended.
type latecomer struct {
	net.Conn
	end <-chan struct{}
}

func (l latecomer) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	<-l.end
	return n, err
}

// A greeting that comes together with the limit is too late: the connection's deadline
// may be set in the past at any moment.
func TestDialRawLate(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	cl := rawClient(t, &Config{
		Credentials:          func(context.Context, string) (Credential, error) { return Credential{User: "u"}, nil },
		AllowUnauthenticated: true,
		DialTimeout:          50 * time.Millisecond,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			return latecomer{nc, ctx.Done()}, err
		},
	}, srv.Addr())
	_, err := cl.dialRaw(t.Context(), cl.servers[0])
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "Config.DialTimeout")
}
