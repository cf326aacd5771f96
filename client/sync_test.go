package client_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// guard has server and client speak TLS, and the client authenticate itself.
func guard(opts *memcachedtest.ServerOptions, cfg *client.Config) {
	if cfg.OpTimeout == 0 {
		cfg.OpTimeout = 20 * time.Second // making a connection takes milliseconds of CPU
	}
	opts.TLS = &tls.Config{Certificates: []tls.Certificate{testCerts().pair("server")}}
	opts.Auth = func(user, password string) bool { return user == "user" && password == "pass word" }
	cfg.TLS = testTLS()
	cfg.Credentials = func(context.Context, string) (client.Credential, error) {
		return client.Credential{User: "user", Password: "pass word"}, nil
	}
}

// onScript runs f on both engines over both networks against a scripted server, and
// against one that demands TLS and authentication.
func onScript(t *testing.T, opts memcachedtest.ServerOptions, cfg client.Config, f func(t *testing.T, c *client.Client, srv *memcachedtest.Server)) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(network, func(t *testing.T) {
				opts, cfg := opts, cfg
				opts.Network, cfg.Engine = network, kind
				srv := memcachedtest.NewServer(t, opts)
				f(t, dial(t, &cfg, srv.Addr()), srv)
			})
		}
		t.Run("guarded", func(t *testing.T) {
			opts, cfg := opts, cfg
			opts.Network, cfg.Engine = "tcp", kind
			guard(&opts, &cfg)
			srv := memcachedtest.NewServer(t, opts)
			f(t, dial(t, &cfg, srv.Addr()), srv)
		})
	})
}

// A call that times out or is cancelled leaves the connection open and in sync:
// its late reply is thrown away, and the next caller gets its own.
func TestTimeoutKeepsTheConnection(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		for _, k := range []string{"a", "b"} {
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: []byte("value of " + k)}))
		}
		for i := range 10 {
			release := make(chan struct{})
			at := []int{0, 1, 5, 12, 20, 30, -1, -2, 3, 25}[i]
			srv.SetScript(memcachedtest.OnKey("a", memcachedtest.Answer().StallAt(at, release)))
			var ctx context.Context
			var cancel context.CancelFunc
			var want error
			if i%2 == 0 {
				ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
				want = context.DeadlineExceeded
			} else {
				ctx, cancel = context.WithCancel(context.Background())
				time.AfterFunc(50*time.Millisecond, cancel)
				want = context.Canceled
			}
			dst := []byte("untouched")[:4]
			_, _, err := c.GetAppend(ctx, dst, "a")
			cancel()
			require.ErrorIs(t, err, want)
			require.Equal(t, client.Unknown, opError(t, err).Outcome)
			copy(dst[:9], "untouched") // it is ours again
			close(release)
			it, err := c.Get(patient(t), "b")
			require.NoError(t, err)
			require.Equal(t, "value of b", string(it.Value))
			require.Equal(t, "untouched", string(dst[:9]), "a late reply was written to a caller's slice")
		}
		n := c.Counters()
		assert.EqualValues(t, 10, n.Timeouts)
		assert.EqualValues(t, 1, n.Dials)
		assert.Zero(t, n.Losses)
		assert.Zero(t, n.Desyncs)
	})
}

// A reply that is not the request's own is never handed out. The connection is
// closed, and the next call has a new one.
func TestDesync(t *testing.T) {
	faults := map[string]memcachedtest.Action{
		"wrong opaque": memcachedtest.Answer().WrongOpaque(),
		"wrong key":    memcachedtest.Answer().WrongKey(),
		"garbage":      memcachedtest.Garbage(),
		"twice":        memcachedtest.Answer().Twice(),
		"cut value":    memcachedtest.Answer().Edit(func(b []byte) []byte { return append(b[:len(b)-3], "\r\n"...) }),
		"ERROR":        memcachedtest.ErrorLine("ERROR"),
		"bad format":   memcachedtest.ErrorLine("CLIENT_ERROR bad command line format"),
		"status":       memcachedtest.Answer().Instead([]byte("OK\r\n")),
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				require.NoError(t, c.Set(patient(t), client.Item{Key: "bad", Value: []byte("bad value")}))
				require.NoError(t, c.Set(patient(t), client.Item{Key: "good", Value: []byte("good value")}))
				srv.SetScript(memcachedtest.OnKey("bad", fault))
				if name != "twice" { // there the first copy is right
					_, err := c.Get(patient(t), "bad")
					require.ErrorIs(t, err, client.ErrDesync)
					require.ErrorIs(t, err, client.ErrConnLost)
					require.NotContains(t, err.Error(), "bad value")
				} else {
					_, err := c.Get(patient(t), "bad")
					require.NoError(t, err)
				}
				srv.SetScript(nil)
				eventually(t, "the desync was noticed", func() bool { return c.Counters().Desyncs == 1 })
				it, err := c.Get(patient(t), "good")
				require.NoError(t, err)
				require.Equal(t, "good value", string(it.Value))
				require.EqualValues(t, 2, c.Counters().Dials)
			})
		})
	}
}

// An error line after which the stream is in sync costs only its own call.
func TestServerErrorKeepsTheConnection(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		srv.SetScript(memcachedtest.OnKey("k", memcachedtest.ErrorLine("SERVER_ERROR out of memory storing object")))
		err := c.Set(patient(t), client.Item{Key: "k"})
		require.ErrorIs(t, err, client.ErrServer)
		require.ErrorContains(t, err, "out of memory")
		_, err = c.Get(patient(t), "k")
		require.ErrorIs(t, err, client.ErrServer)
		require.ErrorIs(t, firstError(c, patient(t), "k"), client.ErrServer)
		require.NoError(t, c.Ping(patient(t)))
		_, err = c.Stats(patient(t), "no-such-group")
		require.ErrorIs(t, err, client.ErrServer)
		require.NoError(t, c.Ping(patient(t)))
		require.EqualValues(t, 1, c.Counters().Dials)
	})
}

// Replies split at any byte are put together again.
func TestSplitReplies(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		keys := keysOf("k%d", 20)
		for _, k := range keys {
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: []byte("value of " + k)}))
		}
		for _, sizes := range [][]int{{1}, {2, 1}, {7}, {3, 40}} {
			srv.SetScript(func(memcachedtest.Request) memcachedtest.Action { return memcachedtest.Answer().Chunks(sizes...) })
			it, err := c.Get(patient(t), "k3")
			require.NoError(t, err)
			require.Equal(t, "value of k3", string(it.Value))
			n := 0
			for it, err := range c.GetMulti(patient(t), keys) {
				require.NoError(t, err)
				require.Equal(t, "value of "+it.Key, string(it.Value))
				n++
			}
			require.Equal(t, len(keys), n)
		}
	})
}

// A connection that breaks fails the calls on it, says that their outcome is
// unknown, and is replaced.
func TestConnectionLost(t *testing.T) {
	for name, fault := range map[string]memcachedtest.Action{
		"closed":     memcachedtest.Missing().Close(),
		"cut":        memcachedtest.Answer().CutAt(5),
		"reset":      memcachedtest.Answer().CutAt(8).Reset(),
		"half close": memcachedtest.Answer().CutAt(3).HalfClose(),
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("some value")}))
				for range 3 {
					srv.SetScript(memcachedtest.OnKey("k", fault))
					_, err := c.Get(patient(t), "k")
					require.ErrorIs(t, err, client.ErrConnLost)
					require.Equal(t, client.Unknown, opError(t, err).Outcome)
					require.False(t, client.SafeToRetry(err))
					srv.SetScript(nil)
					it, err := c.Get(patient(t), "k")
					require.NoError(t, err)
					require.Equal(t, "some value", string(it.Value))
				}
			})
		})
	}
}

// A server that closed while the connection was idle costs no caller an error.
func TestClosedWhileIdle(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		for range 5 {
			require.NoError(t, c.Ping(patient(t)))
			srv.CloseConns()
			eventually(t, "the close was noticed without a call", func() bool { return c.Counters().Conns == 0 })
		}
	})
}

// A server that is down fails calls fast, without a word sent, and is found
// again when it is back.
func TestServerDown(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Ping(patient(t)))
		require.NoError(t, srv.Refuse(true))
		srv.CloseConns()
		eventually(t, "calls fail", func() bool {
			err := c.Ping(patient(t))
			return err != nil && client.SafeToRetry(err)
		})
		err := c.Ping(patient(t))
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.NoError(t, srv.Refuse(false))
		eventually(t, "the server is found again", func() bool { return c.Ping(patient(t)) == nil })
	})
}

// A request that times out before the kernel has taken any of it is not sent at
// all, and says so.
func TestNotSent(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			OnConnect: func(int) memcachedtest.ConnAction { return memcachedtest.ConnDeaf },
		})
		c := dial(t, &client.Config{Engine: kind, ConnsPerServer: 1, OpTimeout: 50 * time.Millisecond}, srv.Addr())
		big := make([]byte, 8<<20) // more than any socket's buffers
		var notSent, unknown int
		for range 4 {
			err := c.Set(context.Background(), client.Item{Key: "k", Value: big})
			require.ErrorIs(t, err, client.ErrTimeout)
			switch opError(t, err).Outcome {
			case client.NotSent:
				require.True(t, client.SafeToRetry(err))
				notSent++
			case client.Unknown:
				unknown++
			}
		}
		require.Equal(t, 1, unknown, "the first was begun")
		require.Equal(t, 3, notSent, "those behind it were not")
	})
}

// Hundreds of goroutines with random deadlines against a slow server: nobody
// ever gets another's value, and the connections survive.
func TestRandomDeadlines(t *testing.T) {
	script := func(r memcachedtest.Request) memcachedtest.Action {
		a := memcachedtest.Answer()
		if r.Command != "ms" {
			a = a.Delay(rand.N(3 * time.Millisecond))
		}
		return a
	}
	onScript(t, memcachedtest.ServerOptions{Script: script, RecordLimit: -1}, client.Config{}, func(t *testing.T, c *client.Client, _ *memcachedtest.Server) {
		keys := keysOf("key-%d", 50)
		for _, k := range keys {
			require.NoError(t, c.Set(patient(t), client.Item{Key: k, Value: []byte("value of " + k)}))
		}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				for range 40 {
					ctx, cancel := context.WithTimeout(context.Background(), rand.N(4*time.Millisecond))
					k := keys[rand.IntN(len(keys))]
					if rand.IntN(10) > 0 {
						it, err := c.Get(ctx, k)
						if err == nil {
							assert.Equal(t, "value of "+k, string(it.Value))
						} else {
							assert.ErrorIs(t, err, context.DeadlineExceeded)
						}
					} else {
						for it, err := range c.GetMulti(ctx, keys) {
							if err != nil {
								assert.ErrorIs(t, err, context.DeadlineExceeded)
								continue
							}
							assert.Equal(t, "value of "+it.Key, string(it.Value))
							if rand.IntN(30) == 0 {
								break
							}
						}
					}
					cancel()
				}
			})
		}
		wg.Wait()
		n := c.Counters()
		assert.NotZero(t, n.Timeouts)
		assert.Zero(t, n.Desyncs)
		assert.Zero(t, n.Losses, fmt.Sprintf("%+v", n))
	})
}
