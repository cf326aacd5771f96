package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// onTLS runs f on both engines with both versions.
func onTLS(t *testing.T, f func(t *testing.T, kind client.EngineKind, cfg *tls.Config)) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for name, version := range tlsVersions {
			t.Run(name, func(t *testing.T) { f(t, kind, &tls.Config{RootCAs: testCerts().pool, MaxVersion: version}) })
		}
	})
}

// Values of all sizes come back over TLS as they were, however they are asked for, and
// the engine is the one that was wished for.
func TestTLSValues(t *testing.T) {
	onTLS(t, func(t *testing.T, kind client.EngineKind, cfg *tls.Config) {
		mc := startTLS(t, memcachedtest.Options{ItemLimitBytes: 16 << 20, MemoryMiB: 512})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1, TLS: client.FixedTLS(cfg)}, mc.Addr())
		ctx := patient(t)
		sizes := []int{0, 1, 1000, 16 << 10, 64<<10 - 40, 64 << 10, 128<<10 + 1, 1 << 20, 8 << 20}
		keys := keysOf("tls:%d", len(sizes))
		values := make(map[string][]byte)
		var sum uint64
		for i, size := range sizes {
			values[keys[i]] = largeValue(size)
			sum += uint64(size)
			require.NoError(t, c.Set(ctx, client.Item{Key: keys[i], Value: values[keys[i]]}))
		}
		for _, k := range keys {
			it, err := c.Get(ctx, k)
			require.NoError(t, err)
			require.True(t, bytes.Equal(values[k], it.Value), "get %s", k)
			l, err := c.GetLease(ctx, k)
			require.NoError(t, err)
			require.True(t, bytes.Equal(values[k], l.Value), "get lease %s", k)
			require.NoError(t, l.Release())
			out, _, err := c.GetAppend(ctx, []byte("head"), k)
			require.NoError(t, err)
			require.True(t, bytes.Equal(values[k], out[4:]), "get append %s", k)
		}
		seen := 0
		for it, err := range c.GetMulti(ctx, keys) {
			require.NoError(t, err)
			require.True(t, bytes.Equal(values[it.Key], it.Value), "get multi %s", it.Key)
			seen++
		}
		require.Equal(t, len(keys), seen)
		n := c.Counters()
		require.EqualValues(t, 1, n.Dials)
		require.Greater(t, n.BytesOut, sum)
		require.Greater(t, n.BytesIn, 4*sum)
		name, _ := c.Engine()
		require.Equal(t, map[client.EngineKind]string{client.URing: client.EngineURing, client.Poll: client.EnginePoll}[kind], name)
	})
}

// TLS runs above what DialContext returns.
func TestTLSDialContext(t *testing.T) {
	mc := startTLS(t, memcachedtest.Options{})
	c := dial(t, &client.Config{
		TLS: client.FixedTLS(&tls.Config{RootCAs: testCerts().pool, ServerName: "server.test"}),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, "tcp", mc.Addr())
			return struct{ net.Conn }{nc}, err
		},
	}, "elsewhere.invalid:1")
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: largeValue(100 << 10)}))
	it, err := c.Get(patient(t), "k")
	require.NoError(t, err)
	require.Equal(t, largeValue(100<<10), it.Value)
}

// A server with a client's certificate to check takes those of its authority, and the
// error of those without says what is missing, also where TLS 1.3 tells it only after
// the handshake.
func TestTLSClientCertificate(t *testing.T) {
	ca, _, _ := testCerts().files(t, "server")
	args := []string{"-o", "ssl_verify_mode=2,ssl_ca_cert=" + ca}
	onTLS(t, func(t *testing.T, kind client.EngineKind, cfg *tls.Config) {
		mc := startTLS(t, memcachedtest.Options{Args: args})
		mine := cfg.Clone()
		mine.Certificates = []tls.Certificate{testCerts().pair("client")}
		c := dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(mine)}, mc.Addr())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))

		c = dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(cfg)}, mc.Addr())
		err := c.Set(patient(t), client.Item{Key: "k"})
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorContains(t, err, "client certificate")
		require.True(t, client.SafeToRetry(err))

		foreign := cfg.Clone()
		pair := newAuthority(t).pair("stranger")
		foreign.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		c = dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(foreign)}, mc.Addr())
		err = c.Set(patient(t), client.Item{Key: "k"})
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorContains(t, err, "client certificate")
		require.True(t, client.SafeToRetry(err))
	})
}

// What is wrong with a server or the configuration is said, with a remedy where there
// is one, and nothing was sent.
func TestTLSErrors(t *testing.T) {
	secret := errors.New("no certificates today")
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		secured := startTLS(t, memcachedtest.Options{})
		plain := memcachedtest.Start(t, memcachedtest.Options{})
		mute := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnMute },
		})
		socket := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "unix"})
		for name, c := range map[string]struct {
			tls    func(string) (*tls.Config, error)
			server string
			is     error
			words  string
		}{
			"wrong authority": {client.FixedTLS(&tls.Config{RootCAs: newAuthority(t).pool}), secured.Addr(), nil, "unknown authority"},
			"wrong name":      {client.FixedTLS(&tls.Config{RootCAs: testCerts().pool, ServerName: "other.test"}), secured.Addr(), nil, "other.test"},
			"plain server":    {testTLS(), plain.Addr(), nil, "-Z"},
			"silent server":   {testTLS(), mute.Addr(), nil, "-Z"},
			"nil":             {client.FixedTLS(nil), secured.Addr(), client.ErrConfig, "Config.TLS"},
			"error":           {func(string) (*tls.Config, error) { return nil, secret }, secured.Addr(), secret, "Config.TLS"},
			"socket":          {testTLS(), socket.Addr(), client.ErrConfig, "ServerName"},
			"TLS server":      {nil, secured.Addr(), nil, "Config.TLS"},
		} {
			t.Run(name, func(t *testing.T) {
				cl := dial(t, &client.Config{Engine: kind, TLS: c.tls, DialTimeout: 500 * time.Millisecond, OpTimeout: 20 * time.Second}, c.server)
				_, err := cl.Get(patient(t), "k")
				if c.tls != nil {
					require.ErrorIs(t, err, client.ErrUnavailable)
					require.True(t, client.SafeToRetry(err))
				}
				require.ErrorContains(t, err, c.words)
				if c.is != nil {
					require.ErrorIs(t, err, c.is)
				}
				require.NotErrorIs(t, err, context.DeadlineExceeded, "that would be the call's")
				require.Zero(t, cl.Counters().Desyncs)
			})
		}
	})
}

// A UNIX socket can speak TLS, if the name is given.
func TestTLSUnix(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Network: "unix", TLS: &tls.Config{Certificates: []tls.Certificate{testCerts().pair("server")}},
		})
		cfg := &tls.Config{RootCAs: testCerts().pool, ServerName: "server.test"}
		c := dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(cfg)}, srv.Addr())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
	})
}

// Certificates that change on disk are used from the next connection on; broken ones
// are not, and that is told.
func TestTLSFilesReload(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		old, fresh := newAuthority(t), newAuthority(t)
		var mu sync.Mutex // guards these:
		var seen []string
		current := old
		peers := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(seen)
		}
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{TLS: &tls.Config{
			ClientAuth: tls.RequireAnyClientCert,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				mu.Lock()
				defer mu.Unlock()
				return &tls.Config{
					Certificates: []tls.Certificate{current.pair("server")}, ClientAuth: tls.RequireAnyClientCert,
					VerifyConnection: func(s tls.ConnectionState) error {
						mu.Lock()
						defer mu.Unlock()
						seen = append(seen, s.PeerCertificates[0].Subject.CommonName)
						return nil
					},
				}, nil
			},
		}})
		last := func() string { all := peers(); return all[len(all)-1] }
		ca, cert, key := old.files(t, "first")
		var told []string
		files := &client.TLSFiles{CA: ca, Cert: cert, Key: key, OnError: func(err error) { told = append(told, err.Error()) }}
		c := dial(t, &client.Config{Engine: kind, TLS: files.Config, ConnsPerServer: 1, OpTimeout: 20 * time.Second}, srv.Addr())
		again := func() {
			srv.CloseConns()
			eventually(t, "the connection is gone", func() bool { return c.Counters().Conns == 0 })
			require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
		}
		again()
		again()
		require.Equal(t, []string{"first", "first"}, peers())

		c2, k2 := fresh.issue("second")
		writeFile(t, cert, c2) // half done: the key is another's
		again()
		require.Equal(t, "first", peers()[2])
		require.ErrorContains(t, files.Err(), "cert.pem")
		again()
		require.Len(t, told, 1, "told once")
		writeFile(t, key, k2[:len(k2)/2])
		again()
		require.Len(t, told, 2)
		require.NoError(t, os.Remove(ca))
		again()
		require.ErrorIs(t, files.Err(), os.ErrNotExist)
		writeFile(t, ca, []byte("nothing"))
		again()
		require.ErrorContains(t, files.Err(), "ca.pem")
		require.Equal(t, "first", last())

		mu.Lock()
		current = fresh
		mu.Unlock()
		writeFile(t, ca, fresh.pem)
		writeFile(t, key, k2)
		again()
		require.Equal(t, "second", last())
		require.NoError(t, files.Err())
		for _, text := range told {
			assert.NotContains(t, text, strings.Split(string(k2), "\n")[1], "a part of the key")
		}
	})
}

// Without any good files there is no connection, and the call says why.
func TestTLSFilesMissing(t *testing.T) {
	files := &client.TLSFiles{CA: "/nonexistent/ca.pem"}
	c := dial(t, &client.Config{TLS: files.Config}, "127.0.0.1:1")
	err := c.Set(patient(t), client.Item{Key: "k"})
	require.ErrorIs(t, err, client.ErrUnavailable)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A certificate without its key, and the reverse, is a mistake, and named.
func TestTLSFilesHalf(t *testing.T) {
	_, cert, key := testCerts().files(t, "client")
	for _, files := range []*client.TLSFiles{{Cert: cert}, {Key: key}} {
		c := dial(t, &client.Config{TLS: files.Config}, "127.0.0.1:1")
		err := c.Set(patient(t), client.Item{Key: "k"})
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorIs(t, err, client.ErrConfig)
		require.ErrorContains(t, err, "one of Cert and Key")
	}
}

// A server that is killed and started again is used again, over TLS as well.
func TestTLSRestart(t *testing.T) {
	onTLS(t, func(t *testing.T, kind client.EngineKind, cfg *tls.Config) {
		mc := startTLS(t, memcachedtest.Options{})
		c := dial(t, &client.Config{Engine: kind, TLS: client.FixedTLS(cfg)}, mc.Addr())
		for i := range 3 {
			key := fmt.Sprint("k", i)
			require.NoError(t, c.Set(patient(t), client.Item{Key: key}))
			require.NoError(t, mc.Stop())
			require.Error(t, c.Set(patient(t), client.Item{Key: key}))
			require.NoError(t, mc.Restart(patient(t)))
			eventually(t, "it works again", func() bool { return c.Set(patient(t), client.Item{Key: key}) == nil })
		}
	})
}
