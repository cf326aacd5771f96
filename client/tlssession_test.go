package client_test

import (
	"crypto/tls"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Sessions are resumed if the configuration lets them be, and with the certificate that
// is on disk: what an earlier one has begun would go on under its name.
func TestTLSFilesSessions(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for name, version := range tlsVersions {
			t.Run(name, func(t *testing.T) {
				type peer struct {
					name    string
					resumed bool
				}
				var mu sync.Mutex
				var seen []peer
				srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{TLS: &tls.Config{
					Certificates: []tls.Certificate{testCerts().pair("server")}, ClientAuth: tls.RequireAnyClientCert,
					VerifyConnection: func(s tls.ConnectionState) error {
						mu.Lock()
						defer mu.Unlock()
						seen = append(seen, peer{s.PeerCertificates[0].Subject.CommonName, s.DidResume})
						return nil
					},
				}})
				ca, cert, key := testCerts().files(t, "first")
				files := &client.TLSFiles{CA: ca, Cert: cert, Key: key, Base: &tls.Config{
					MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(0),
				}}
				c := dial(t, &client.Config{Engine: kind, TLS: files.Config, ConnsPerServer: 1, OpTimeout: 20 * time.Second}, srv.Addr())
				again := func() {
					require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
					srv.CloseConns()
					eventually(t, "the connection is gone", func() bool { return c.Counters().Conns == 0 })
				}
				again()
				again()
				c2, k2 := testCerts().issue("second")
				writeFile(t, cert, c2)
				writeFile(t, key, k2)
				again()
				again()
				mu.Lock()
				defer mu.Unlock()
				require.Equal(t, []peer{{"first", false}, {"first", true}, {"second", false}, {"second", true}}, seen)
			})
		}
	})
}

// Servers without names to check have a session each as well.
func TestTLSSessionsOfServers(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		cache := &sessionNames{ClientSessionCache: tls.NewLRUClientSessionCache(0), names: make(map[string]bool)}
		cfg := &tls.Config{InsecureSkipVerify: true, ClientSessionCache: cache}
		for range 2 {
			srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
				TLS: &tls.Config{Certificates: []tls.Certificate{testCerts().pair("server")}},
			})
			c := dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(cfg)}, srv.Addr())
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
		}
		cache.mu.Lock()
		defer cache.mu.Unlock()
		require.Len(t, cache.names, 2)
	})
}

// sessionNames notes what sessions are kept under.
type sessionNames struct {
	tls.ClientSessionCache
	mu    sync.Mutex
	names map[string]bool
}

func (s *sessionNames) Put(name string, state *tls.ClientSessionState) {
	s.mu.Lock()
	s.names[name] = true
	s.mu.Unlock()
	s.ClientSessionCache.Put(name, state)
}
