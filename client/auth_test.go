package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// credential is a Config.Credentials that never changes.
func credential(user, password string) func(context.Context, string) (client.Credential, error) {
	return func(context.Context, string) (client.Credential, error) {
		return client.Credential{User: user, Password: password}, nil
	}
}

// authFile writes a file for -Y.
func authFile(t testing.TB, lines string) string {
	name := filepath.Join(t.TempDir(), "auth")
	writeFile(t, name, []byte(lines))
	return name
}

// A real server with -Y, over both networks and TLS, takes the right credential and no
// other.
func TestAuthentication(t *testing.T) {
	file := authFile(t, "user:secret\nother:word\n")
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, network := range []string{"tcp", "unix", "tls"} {
			t.Run(network, func(t *testing.T) {
				cfg := client.Config{Engine: kind, OpTimeout: 20 * time.Second}
				var mc *memcachedtest.Process
				if network == "tls" {
					mc, cfg.TLS = startTLS(t, memcachedtest.Options{Args: []string{"-Y", file}}), testTLS()
				} else {
					mc = memcachedtest.Start(t, memcachedtest.Options{Network: network, Args: []string{"-Y", file}})
				}
				for _, pair := range [][2]string{{"user", "secret"}, {"other", "word"}} {
					cfg.Credentials = credential(pair[0], pair[1])
					c := dial(t, &cfg, mc.Addr())
					require.NoError(t, c.Set(patient(t), client.Item{Key: "auth", Value: []byte("v")}))
					it, err := c.Get(patient(t), "auth")
					require.NoError(t, err)
					require.Equal(t, "v", string(it.Value))
				}
				for _, pair := range [][2]string{{"user", "word"}, {"user", ""}, {"nobody", "secret"}} {
					cfg.Credentials = credential(pair[0], pair[1])
					c := dial(t, &cfg, mc.Addr())
					err := c.Set(patient(t), client.Item{Key: "auth", Value: []byte("v")})
					require.ErrorIs(t, err, client.ErrAuth)
					require.ErrorIs(t, err, client.ErrUnavailable)
					require.True(t, client.SafeToRetry(err))
					require.ErrorIs(t, firstError(c, patient(t), "auth"), client.ErrAuth)
				}
				cfg.Credentials = nil
				err := dial(t, &cfg, mc.Addr()).Set(patient(t), client.Item{Key: "auth", Value: []byte("v")})
				require.ErrorIs(t, err, client.ErrAuth)
				require.ErrorContains(t, err, "Config.Credentials")
			})
		}
	})
}

// guarded starts a server that lets nobody in but those with the password, which
// begins with "secret".
func guarded(t testing.TB, network string, good func(password string) bool) *memcachedtest.Server {
	return memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		Network: network, Auth: func(user, password string) bool { return user == "user" && good(password) },
	})
}

// Until the server has accepted a credential there is nothing on a connection but the
// question that it must answer and the credential itself, whoever waits; and with a
// wrong one there never is.
func TestNoRequestBeforeAuthentication(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, password := range []string{"secret", "wrong"} {
			srv := guarded(t, "tcp", func(p string) bool { return p == "secret" })
			c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, Credentials: credential("user", password)}, srv.Addr())
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					for n := range 20 {
						err := c.Set(patient(t), client.Item{Key: fmt.Sprint("key", i), Value: []byte("value")})
						switch {
						case password != "secret":
							assert.ErrorIs(t, err, client.ErrAuth)
						case err != nil: // of the server's doing, see below
							assert.NotErrorIs(t, err, client.ErrAuth)
						}
						if n == 10 && i == 0 {
							srv.CloseConns()
						}
					}
				})
			}
			wg.Wait()
			if password == "secret" {
				eventually(t, "it works again", func() bool { return c.Set(patient(t), client.Item{Key: "k"}) == nil })
			}
			lines := srv.Unauthenticated()
			require.NotEmpty(t, lines)
			bodies := 0
			for i, line := range lines {
				want := "version"
				if strings.HasPrefix(line, "set") {
					want = fmt.Sprintf("set auth 0 0 %d", len("user ")+len(password))
					bodies++
				}
				require.Equal(t, want, line, "line %d", i)
			}
			if password != "secret" {
				require.Zero(t, srv.RequestCount())
				// Not a byte more than that, either.
				size := int64(bodies * (len("user ") + len(password) + 2))
				for _, line := range lines {
					size += int64(len(line) + 2)
				}
				require.Equal(t, size, srv.BytesRead())
			}
		}
	})
}

// A server that demands nothing is sent no credential, which it would store, and no
// request, unless that is allowed, and then it is counted.
func TestServerWithoutAuthentication(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
		cfg := client.Config{Engine: kind, Credentials: func(context.Context, string) (client.Credential, error) {
			t.Error("nobody has asked")
			return client.Credential{}, nil
		}}
		c := dial(t, &cfg, srv.Addr())
		err := c.Set(patient(t), client.Item{Key: "k"})
		require.ErrorIs(t, err, client.ErrAuth)
		require.ErrorContains(t, err, "AllowUnauthenticated")
		for _, r := range srv.Requests() {
			require.Equal(t, "version", r.Line)
		}
		cfg.AllowUnauthenticated = true
		c = dial(t, &cfg, srv.Addr())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
		require.EqualValues(t, 1, c.Counters().Servers[srv.Addr()].Unauthenticated)
	})
}

// New credentials count for new connections: a server that is started again with
// another password is used again, and calls see nothing worse than its absence.
func TestCredentialsRotate(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		file := authFile(t, "user:secret0\n")
		mc := memcachedtest.Start(t, memcachedtest.Options{Args: []string{"-Y", file}})
		var round atomic.Int32
		var asked atomic.Int32
		c := dial(t, &client.Config{Engine: kind, Credentials: func(_ context.Context, server string) (client.Credential, error) {
			asked.Add(1)
			assert.Equal(t, mc.Addr(), server)
			return client.Credential{User: "user", Password: fmt.Sprint("secret", round.Load())}, nil
		}}, mc.Addr())
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					_, err := c.Get(patient(t), fmt.Sprint("key", i))
					if err != nil && !errors.Is(err, client.ErrNotFound) {
						ok := errors.Is(err, client.ErrUnavailable) || errors.Is(err, client.ErrConnLost) || errors.Is(err, client.ErrTimeout)
						assert.True(t, ok, "%v", err)
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		works := func() bool { return c.Set(patient(t), client.Item{Key: "k"}) == nil }
		eventually(t, "it works", works)
		for n := range 3 {
			writeFile(t, file, fmt.Appendf(nil, "user:secret%d\n", n+1))
			require.NoError(t, mc.Restart(patient(t)))
			eventually(t, "the old password is refused", func() bool {
				return errors.Is(c.Set(patient(t), client.Item{Key: "k"}), client.ErrAuth)
			})
			round.Add(1)
			eventually(t, "the new password is used", works)
		}
		close(stop)
		wg.Wait()
		require.Greater(t, asked.Load(), int32(6))
	})
}

// A server that refuses a credential is not tried again without pause.
func TestRefusedCredentialBacksOff(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := guarded(t, "tcp", func(string) bool { return false })
		c := dial(t, &client.Config{Engine: kind, Credentials: credential("user", "wrong")}, srv.Addr())
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			require.ErrorIs(t, c.Set(patient(t), client.Item{Key: "k"}), client.ErrAuth)
		}
		require.Less(t, srv.ConnCount(), 40)
		n := c.Counters()
		require.EqualValues(t, srv.ConnCount(), n.Servers[srv.Addr()].FailedDials)
		require.Zero(t, n.Dials)
	})
}

// A credential function that fails, or waits, or returns nonsense costs the calls
// nothing but that they fail, and no such credential is sent.
func TestCredentialsFail(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		cause := errors.New("the vault is closed")
		for name, f := range map[string]func(ctx context.Context, server string) (client.Credential, error){
			"fails": func(context.Context, string) (client.Credential, error) { return client.Credential{}, cause },
			"waits": func(ctx context.Context, _ string) (client.Credential, error) {
				<-ctx.Done()
				return client.Credential{}, ctx.Err()
			},
			"empty":        credential("", "secret"),
			"space":        credential("us er", "secret"),
			"colon":        credential("us:er", "secret"),
			"newline":      credential("user\nset", "secret"),
			"injection":    credential("user", "secret\r\nflush_all"),
			"zero byte":    credential("user", "secret\x00"),
			"far too long": credential("user", strings.Repeat("secret", 4000)),
		} {
			t.Run(name, func(t *testing.T) {
				srv := guarded(t, "tcp", func(string) bool { return true })
				cfg := &client.Config{Engine: kind, Credentials: f, OpTimeout: 20 * time.Second, DialTimeout: -1}
				if name == "waits" {
					cfg.DialTimeout = 200 * time.Millisecond
				}
				c := dial(t, cfg, srv.Addr())
				err := c.Set(patient(t), client.Item{Key: "k"})
				require.ErrorIs(t, err, client.ErrAuth)
				require.ErrorIs(t, err, client.ErrUnavailable)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorContains(t, err, "Config.Credentials")
				require.NotContains(t, err.Error(), "secret")
				if name == "fails" {
					require.ErrorIs(t, err, cause)
				}
				for _, line := range srv.Unauthenticated() {
					require.Equal(t, "version", line)
				}
			})
		}
	})
}

// Close ends a credential function that waits, and the calls with it.
func TestCloseDuringCredentials(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := guarded(t, "unix", func(string) bool { return true })
		waits := make(chan struct{})
		c := dial(t, &client.Config{Engine: kind, DialTimeout: -1, OpTimeout: -1, Credentials: func(ctx context.Context, _ string) (client.Credential, error) {
			close(waits)
			<-ctx.Done()
			return client.Credential{}, ctx.Err()
		}}, srv.Addr())
		errs := make(chan error)
		go func() { errs <- c.Set(context.Background(), client.Item{Key: "k"}) }()
		<-waits
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-errs, client.ErrClosed)
	})
}

// What a server answers that is no answer ends the attempt, and is in no error.
func TestStrangeGreetings(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for name, raw := range map[string]string{
			"nonsense":       "VALUE key-secret 0 1\r\n",
			"error":          "SERVER_ERROR key-secret\r\n",
			"full":           "ERROR Too many open connections\r\n",
			"endless":        strings.Repeat("x", 5000),
			"more than told": "VERSION 1.6.18\r\nVERSION 1.6.18\r\n",
			"end":            "VERS",
			"stored":         "STORED\r\n",
		} {
			t.Run(name, func(t *testing.T) {
				srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
					Script: always(memcachedtest.Answer().Instead([]byte(raw)).Close()),
				})
				c := dial(t, &client.Config{Engine: kind, Credentials: credential("user", "secret"), AllowUnauthenticated: true}, srv.Addr())
				err := c.Set(patient(t), client.Item{Key: "k"})
				require.ErrorIs(t, err, client.ErrUnavailable)
				require.NotContains(t, err.Error(), "secret")
				require.True(t, client.SafeToRetry(err))
				for _, r := range srv.Requests() {
					require.Equal(t, "version", r.Line)
				}
			})
		}
	})
}

// A Credential shows itself in no text that is made of it or of what has it in it.
func TestCredentialIsWithheld(t *testing.T) {
	cred := client.Credential{User: "the-user", Password: "the-password"}
	in := struct{ C client.Credential }{cred}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("text", "cred", cred, "in", in)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "cred", cred, "in", in)
	texts := []string{log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, cred), fmt.Sprintf(verb, &cred), fmt.Sprintf(verb, in))
	}
	j, err := json.Marshal(in)
	require.NoError(t, err)
	for _, text := range append(texts, string(j)) {
		require.NotContains(t, text, "the-")
		require.NotContains(t, text, fmt.Sprintf("%x", "the-"))
	}
}

// No error that can be had, of a call or a late write, has a credential, a key, a value
// or a part of a private key in it.
func TestErrorsWithholdSecrets(t *testing.T) {
	const user, password, key, value = "user-secret", "password-secret", "key-secret", "value-secret"
	file := authFile(t, user+":"+password+"\n")
	_, cert, _ := testCerts().files(t, "server")
	pem, err := os.ReadFile(cert)
	require.NoError(t, err)
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		authed := memcachedtest.Start(t, memcachedtest.Options{Args: []string{"-Y", file}})
		secured := startTLS(t, memcachedtest.Options{Args: []string{"-Y", file}})
		plain := memcachedtest.Start(t, memcachedtest.Options{})
		broken := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Auth:   func(string, string) bool { return true },
			Script: memcachedtest.Sequence(memcachedtest.Answer().WrongKey(), memcachedtest.Garbage(), memcachedtest.Answer().CutAt(3)),
		})
		var late sync.Map
		found := 0
		check := func(err error) {
			if err == nil {
				return
			}
			found++
			for e := err; e != nil; e = errors.Unwrap(e) {
				text := fmt.Sprintf("%v %+v", e, e)
				require.NotContains(t, text, "secret", "in %T", e)
				require.NotContains(t, text, string(pem[40:80]), "in %T", e)
			}
		}
		for _, srv := range []string{authed.Addr(), secured.Addr(), plain.Addr(), broken.Addr()} {
			for _, cred := range []func(context.Context, string) (client.Credential, error){
				nil, credential(user, password), credential(user, "wrong-secret"), credential("us er-secret", password),
				credential(user, password+"\r\n"),
			} {
				for _, tlsOf := range []bool{false, true} {
					cfg := &client.Config{
						Engine: kind, Credentials: cred, DialTimeout: 200 * time.Millisecond, OpTimeout: 400 * time.Millisecond,
						LateWrite: func(l client.LateWrite) { late.Store(fmt.Sprint(l.Err), true) },
					}
					if tlsOf {
						cfg.TLS = testTLS()
					}
					c := dial(t, cfg, srv)
					for range 2 {
						check(c.Set(patient(t), client.Item{Key: key, Value: []byte(value)}))
						_, err := c.Get(patient(t), key)
						check(err)
						check(firstError(c, patient(t), key, key+"2"))
						check(c.Ping(patient(t)))
					}
				}
			}
		}
		require.Greater(t, found, 100, "there were errors to look at")
		late.Range(func(text, _ any) bool {
			require.NotContains(t, text, "secret")
			return true
		})
	})
}
