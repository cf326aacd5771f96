package admin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// selfSigned writes a certificate for 127.0.0.1 and its key into a new folder, and
// returns who trusts it.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	priv, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &priv.PublicKey, priv)
	require.NoError(t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool = x509.NewCertPool()
	pool.AddCert(c)
	k, err := x509.MarshalECPrivateKey(priv)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: k}), 0o600))
	return cert, key, pool
}

// The connections that streams have of their own are as safe as the client's.
func TestSecureStreams(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		cert, key, pool := selfSigned(t)
		users := filepath.Join(t.TempDir(), "users")
		require.NoError(t, os.WriteFile(users, []byte("user:password\n"), 0o600))
		mc := memcachedtest.Start(t, memcachedtest.Options{Args: []string{
			"-Z", "-o", "ssl_chain_cert=" + cert + ",ssl_key=" + key, "-Y", users,
		}})
		cfg.TLS = client.FixedTLS(&tls.Config{RootCAs: pool})
		cfg.Credentials = func(context.Context, string) (client.Credential, error) {
			return client.Credential{User: "user", Password: "password"}, nil
		}
		s, c := dial(t, cfg, mc.Addr())

		settings, err := s.Settings(patient(t))
		require.NoError(t, err)
		require.True(t, settings.SSLEnabled)
		require.True(t, settings.AuthASCII)
		require.Equal(t, cert, settings.SSLChainCert)

		set(t, c, "a", "x")
		require.Len(t, whole(t, s.Keys(t.Context(), ByHash)), 1)
		all := watched(t, s, func() { set(t, c, "b", "x") }, func(e Entry) bool { return e.Key == "b" }, Mutations)
		require.Equal(t, ItemStore, all[0].Type)

		require.NoError(t, s.RefreshCerts(patient(t)))
		require.NoError(t, os.WriteFile(cert, []byte("no certificate"), 0o600))
		err = s.RefreshCerts(patient(t))
		requireRefused(t, err, ErrCerts, "refresh_certs", s)
		require.NotContains(t, err.Error(), cert)

		cfg.Credentials = func(context.Context, string) (client.Credential, error) {
			return client.Credential{}, errors.New("no vault")
		}
		s, _ = dial(t, cfg, mc.Addr())
		_, err = collect(s.Keys(t.Context(), ByHash))
		requireUnsent(t, err, client.ErrAuth)
	})
}

// What a server wants and the client has not is said by the error of a stream as by that
// of any other call, each of which has a connection of its own.
func TestSecureStreamsSayWhatIsMissing(t *testing.T) {
	cert, key, pool := selfSigned(t)
	users := filepath.Join(t.TempDir(), "users")
	require.NoError(t, os.WriteFile(users, []byte("user:password\n"), 0o600))
	creds := func(context.Context, string) (client.Credential, error) {
		return client.Credential{User: "user", Password: "password"}, nil
	}
	ssl := "ssl_chain_cert=" + cert + ",ssl_key=" + key
	for name, c := range map[string]struct {
		args  []string
		cfg   client.Config
		is    error
		words string
	}{
		"TLS":                     {[]string{"-Z", "-o", ssl}, client.Config{}, client.ErrConnLost, "set Config.TLS"},
		"TLS, with a credential":  {[]string{"-Z", "-o", ssl}, client.Config{Credentials: creds}, client.ErrUnavailable, "set Config.TLS"},
		"a credential":            {[]string{"-Y", users}, client.Config{}, client.ErrAuth, "set Config.Credentials"},
		"a credential, over TLS":  {[]string{"-Z", "-o", ssl, "-Y", users}, client.Config{TLS: client.FixedTLS(&tls.Config{RootCAs: pool})}, client.ErrAuth, "set Config.Credentials"},
		"a client's certificate":  {[]string{"-Z", "-o", ssl + ",ssl_verify_mode=2,ssl_ca_cert=" + cert}, client.Config{TLS: client.FixedTLS(&tls.Config{RootCAs: pool})}, client.ErrUnavailable, "asks for a client certificate"},
		"an authority":            {[]string{"-Z", "-o", ssl}, client.Config{TLS: client.FixedTLS(&tls.Config{})}, client.ErrUnavailable, "RootCAs"},
		"that it demands nothing": {nil, client.Config{Credentials: creds}, client.ErrAuth, "AllowUnauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, cfg *client.Config) {
				mc := memcachedtest.Start(t, memcachedtest.Options{Args: c.args})
				c.cfg.Engine, c.cfg.OpTimeout = cfg.Engine, cfg.OpTimeout
				s, cl := dial(t, &c.cfg, mc.Addr())
				_, err := collect(s.Keys(patient(t), ByHash))
				require.ErrorIs(t, err, c.is)
				require.ErrorContains(t, err, c.words)
				_, err = cl.Get(patient(t), "k")
				require.ErrorIs(t, err, c.is)
				require.ErrorContains(t, err, c.words)
			})
		})
	}
}

// A stream's connection is in no counter, those of connections that let everybody in
// among them.
func TestStreamsAreNotCounted(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		cfg.AllowUnauthenticated = true
		cfg.Credentials = func(context.Context, string) (client.Credential, error) {
			return client.Credential{}, errors.New("nobody has asked")
		}
		s, c := dial(t, cfg, mc.Addr())
		_, err := collect(s.Keys(patient(t), ByHash))
		require.NoError(t, err)
		require.Equal(t, client.ServerCounters{}, c.Counters().Servers[mc.Addr()])
		set(t, c, "a", "x")
		require.Equal(t, client.ServerCounters{Dials: 1, Unauthenticated: 1}, c.Counters().Servers[mc.Addr()])
	})
}
