package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// An authority makes certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	pem  []byte
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a.cert = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, &a.key.PublicKey)
	a.pool.AddCert(a.cert)
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	return a
}

// sign makes a certificate; parent nil is the authority's own.
func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(a.t, err)
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert
}

// issue makes a certificate, for a server on 127.0.0.1 and "server.test" or for a
// client, with its key, both as PEM.
func (a *authority) issue(name string) (cert, key []byte) {
	priv, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	c := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"server.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.cert, &priv.PublicKey)
	der, err := x509.MarshalECPrivateKey(priv)
	require.NoError(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// pair is issue, for crypto/tls.
func (a *authority) pair(name string) tls.Certificate {
	pair, err := tls.X509KeyPair(a.issue(name))
	require.NoError(a.t, err)
	return pair
}

// files writes CA, certificate and key of name into a new folder.
func (a *authority) files(t testing.TB, name string) (ca, cert, key string) {
	dir := t.TempDir()
	ca, cert, key = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	c, k := a.issue(name)
	writeFile(t, ca, a.pem)
	writeFile(t, cert, c)
	writeFile(t, key, k)
	return ca, cert, key
}

func writeFile(t testing.TB, name string, data []byte) {
	require.NoError(t, os.WriteFile(name, data, 0o600))
}

// testCerts are what tests share for which certificates are no matter.
var testCerts = sync.OnceValue(func() *authority { return newAuthority(noTest{}) })

// noTest is what panics where a test would fail.
type noTest struct{ testing.TB }

func (noTest) Errorf(format string, args ...any) {}
func (noTest) Helper()                           {}
func (noTest) FailNow()                          { panic("making certificates has failed") }

// startTLS starts a memcached with -Z and a certificate of testCerts.
func startTLS(t testing.TB, opts memcachedtest.Options) *memcachedtest.Process {
	_, cert, key := testCerts().files(t, "server")
	opts.Args = append([]string{"-Z", "-o", "ssl_chain_cert=" + cert + ",ssl_key=" + key}, opts.Args...)
	return memcachedtest.Start(t, opts)
}

// testTLS is what a client needs for it.
func testTLS() func(string) (*tls.Config, error) {
	return client.FixedTLS(&tls.Config{RootCAs: testCerts().pool})
}
