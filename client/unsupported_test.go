package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// gated is each call that needs something of the server, and from when on it has it.
var gated = []struct {
	name, need string
	call       func(ctx context.Context, c *client.Client) error
}{
	{"hints of a get", "1.6.14", func(ctx context.Context, c *client.Client) error {
		_, err := c.Get(ctx, "k", client.GetOptions{Hints: client.Hints{P: "p"}})
		return err
	}},
	{"hints of a set", "1.6.14", func(ctx context.Context, c *client.Client) error {
		return c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{Hints: client.Hints{L: "l"}})
	}},
	{"hints of a touch", "1.6.14", func(ctx context.Context, c *client.Client) error {
		return c.Touch(ctx, "k", time.Minute, client.Hints{P: "p", L: "l"})
	}},
	{"stored size", "1.6.20", func(ctx context.Context, c *client.Client) error {
		size := -1
		err := c.Append(ctx, client.Item{Key: "k", Value: []byte("abc")}, client.StoreOptions{StoredSize: &size})
		if err == nil && size != 8 {
			return errors.New("another size")
		}
		return err
	}},
	{"CAS of a set", "1.6.27", func(ctx context.Context, c *client.Client) error {
		var cas uint64
		err := c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{NewCAS: 77, StoredCAS: &cas})
		if err == nil && cas != 77 {
			return errors.New("another CAS")
		}
		return err
	}},
	{"CAS of a vivified item", "1.6.27", func(ctx context.Context, c *client.Client) error {
		it, err := c.Get(ctx, "new", client.GetOptions{Vivify: time.Minute, NewCAS: 78})
		if err == nil && it.CAS != 78 {
			return errors.New("another CAS")
		}
		return err
	}},
	{"CAS of an invalidated item", "1.6.27", func(ctx context.Context, c *client.Client) error {
		if err := c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true, NewCAS: 79}); err != nil {
			return err
		}
		it, err := c.Get(ctx, "k")
		if err == nil && (it.CAS != 79 || it.State != client.Won|client.Stale || string(it.Value) != "value") {
			return errors.New("another item")
		}
		return err
	}},
	{"drop value", "1.6.27", func(ctx context.Context, c *client.Client) error {
		if err := c.Delete(ctx, "k", client.DeleteOptions{DropValue: true, TTL: time.Minute}); err != nil {
			return err
		}
		it, err := c.Inspect(ctx, "k")
		if err == nil && (it.Info.Size != 0 || it.State != 0 || it.Flags != 0 || it.Info.TTL > time.Minute || it.Info.TTL < 0) {
			return errors.New("another item")
		}
		return err
	}},
	{"drop value and invalidate", "1.6.27", func(ctx context.Context, c *client.Client) error {
		if err := c.Delete(ctx, "k", client.DeleteOptions{Invalidate: true, DropValue: true, TTL: -1, NewCAS: 80}); err != nil {
			return err
		}
		it, err := c.Inspect(ctx, "k")
		if err == nil && (it.Info.Size != 0 || it.State != client.Won|client.Stale || it.Info.TTL >= 0 || it.CAS != 80) {
			return errors.New("another item")
		}
		return err
	}},
	{"CAS of a counter", "1.6.27", func(ctx context.Context, c *client.Client) error {
		var cas uint64
		_, err := c.Increment(ctx, "n", 1, &client.Counter{}, client.CounterOptions{NewCAS: 81, CAS: &cas})
		if err == nil && cas != 81 {
			return errors.New("another CAS")
		}
		return err
	}},
	{"meta get unless", "1.6.40", func(ctx context.Context, c *client.Client) error {
		r, err := c.Meta(ctx, client.MetaRequest{Command: "mg", Key: "k", Flags: []client.MetaFlag{{'v', ""}, {'C', "1"}}})
		if err == nil && (r.Status != client.MetaVA || len(r.Flags) != 0) {
			return errors.New("another reply")
		}
		return err
	}},
	{"meta append that creates", "1.6.20", func(ctx context.Context, c *client.Client) error {
		r, err := c.Meta(ctx, client.MetaRequest{Command: "ms", Key: "made", Flags: []client.MetaFlag{{'M', "A"}, {'N', "60"}}})
		if err == nil && r.Status != client.MetaHD {
			return errors.New("another reply")
		}
		return err
	}},
}

// What the server does not know is not sent to it.
func TestUnsupported(t *testing.T) {
	for _, version := range []string{"1.6.12", "1.6.18", "1.6.26", "1.6.45", "1.6.27-beta1", "unknown", "1.5.6", "mcrouter 41.0"} {
		t.Run(version, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{Version: version}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				numbers := strings.HasPrefix(version, "1.6.")
				for _, p := range gated {
					require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("value"), Flags: 1}))
					before := srv.RequestCount()
					err := p.call(patient(t), c)
					if numbers && version >= p.need && !strings.HasPrefix(version, p.need+"-") {
						require.NoError(t, err, p.name)
						continue
					}
					require.ErrorIs(t, err, client.ErrUnsupported, p.name)
					require.True(t, client.SafeToRetry(err))
					var u *client.UnsupportedError
					require.ErrorAs(t, err, &u)
					require.Equal(t, client.UnsupportedError{Feature: u.Feature, Need: p.need, Have: version, Server: srv.Addr()}, *u)
					require.ErrorContains(t, err, p.need)
					require.ErrorContains(t, err, version)
					for _, r := range srv.Requests()[before:] {
						require.Equal(t, "version", r.Line, p.name)
					}
				}
				var asked int
				for _, r := range srv.Requests() {
					if r.Line == "version" {
						asked++
					}
				}
				require.Equal(t, 1, asked, "once for a connection")
				require.Zero(t, c.Counters().Losses)
			})
		})
	}
}

// Calls that need nothing never ask; those that do, ask on each connection anew, since
// there may be another server by then.
func TestVersionIsAskedOfEachConnection(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		old := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none"})
		young := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none", Version: "1.6.45"})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		var now atomic.Pointer[memcachedtest.Server]
		now.Store(old)
		go func() {
			for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
				now.Load().Serve(nc)
			}
		}()
		c := dial(t, &client.Config{Engine: kind, ConnsPerServer: 1}, l.Addr().String())
		gatedSet := func() error {
			return c.Set(patient(t), client.Item{Key: "k"}, client.StoreOptions{NewCAS: 5})
		}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
		require.Equal(t, 1, old.RequestCount())
		require.ErrorIs(t, gatedSet(), client.ErrUnsupported)
		require.ErrorIs(t, gatedSet(), client.ErrUnsupported)
		require.Equal(t, 2, old.RequestCount())
		now.Store(young)
		old.CloseConns()
		eventually(t, "the new server is reached", func() bool { return c.Ping(patient(t)) == nil && young.RequestCount() > 0 })
		require.NoError(t, gatedSet())
	})
}

// A call that ends while the version is asked for has sent nothing, and leaves the
// connection in sync.
func TestGivingUpWhileTheVersionIsAsked(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{Version: "1.6.45"}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("value")}))
		release := make(chan struct{})
		srv.SetScript(memcachedtest.OnCommand("version", memcachedtest.Answer().StallAt(4, release)))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		before := srv.RequestCount()
		go func() { done <- c.Set(ctx, client.Item{Key: "k"}, client.StoreOptions{NewCAS: 5}) }()
		require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() > before }))
		cancel()
		err := <-done
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "version")
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
		require.Equal(t, "set", opError(t, err).Op)
		ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err = c.Get(ctx, "k", client.GetOptions{UnlessCAS: 1 << 40})
		require.ErrorIs(t, err, client.ErrTimeout)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
		close(release)
		it, err := c.Get(patient(t), "k", client.GetOptions{UnlessCAS: 1 << 40})
		require.NoError(t, err)
		require.Equal(t, "value", string(it.Value))
		require.EqualValues(t, 1, c.Counters().Dials)
		require.Zero(t, c.Counters().Losses)
	})
}

// A server that does not tell its version, or not in sync, gets nothing that needs one.
func TestVersionIsNotTold(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		gatedSet := func() error {
			return c.Set(patient(t), client.Item{Key: "gated"}, client.StoreOptions{NewCAS: 5})
		}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k"}))
		srv.SetScript(memcachedtest.OnCommand("version", memcachedtest.ErrorLine("SERVER_ERROR not now")))
		require.ErrorIs(t, gatedSet(), client.ErrUnsupported)
		before := srv.RequestCount()
		require.ErrorIs(t, gatedSet(), client.ErrUnsupported)
		require.Equal(t, before+1, srv.RequestCount(), "it is asked again")
		srv.CloseConns()
		eventually(t, "a new connection", func() bool { return c.Ping(patient(t)) == nil })
		for _, a := range []memcachedtest.Action{memcachedtest.ErrorLine("ERROR"), memcachedtest.Answer().CutAt(5), memcachedtest.Answer().Instead([]byte("HD\r\n"))} {
			var n atomic.Int64
			srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
				if r.Command == "version" {
					n.Add(1)
					return a
				}
				return memcachedtest.Answer()
			})
			eventually(t, "a new connection", func() bool { return c.Ping(patient(t)) == nil })
			require.ErrorIs(t, gatedSet(), client.ErrConnLost)
			require.EqualValues(t, 1, n.Load(), "one connection was lost, and no other tried")
		}
		for _, r := range srv.Requests() {
			require.NotEqual(t, "gated", r.Key)
		}
	})
}
