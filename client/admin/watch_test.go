package admin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// watched runs do once the server logs, and returns the entries up to the one that
// enough is true of.
func watched(t *testing.T, s *Server, do func(), enough func(Entry) bool, kinds ...Kind) (all []Entry) {
	t.Helper()
	for e, err := range s.Watch(patient(t), kinds...) {
		require.NoError(t, err)
		if all == nil {
			require.Equal(t, Entry{Type: Started}, e)
			do()
		} else {
			require.NotZero(t, e.GID)
			require.WithinDuration(t, time.Now(), e.Time, time.Hour)
			require.Equal(t, e.Type, e.Fields["type"])
			require.Contains(t, e.Line, " type="+e.Type)
		}
		all = append(all, e)
		if enough(e) {
			return all[1:]
		}
	}
	t.Fatal("the watch has ended")
	return nil
}

// one returns the only entry of a type, of the few about one key.
func one(t *testing.T, all []Entry, kind, key string) (found Entry) {
	t.Helper()
	n := 0
	for _, e := range all {
		if e.Type == kind && e.Key == key {
			found = e
			n++
		}
	}
	require.Equal(t, 1, n, "%s in %v", kind, all)
	return found
}

func TestWatch(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		ctx := patient(t)
		all := watched(t, s, func() {
			require.NoError(t, c.Set(ctx, client.Item{Key: "a%b", Value: []byte("value"), TTL: time.Hour}))
			require.NoError(t, c.Add(ctx, client.Item{Key: "ß", Value: []byte("x")}))
			require.ErrorIs(t, c.Replace(ctx, client.Item{Key: "none"}), client.ErrNotStored)
			_, err := c.Get(ctx, "missing")
			require.ErrorIs(t, err, client.ErrNotFound)
			_, err = c.Get(ctx, "last")
			require.ErrorIs(t, err, client.ErrNotFound)
		}, func(e Entry) bool { return e.Key == "last" }, Fetchers, Mutations)

		e := one(t, all, ItemStore, "a%b")
		require.Equal(t, [...]string{"stored", "set"}, [...]string{e.Status, e.Cmd})
		require.Equal(t, uint64(5), e.Size)
		require.Equal(t, 1, e.Class)
		require.True(t, e.Expires)
		require.InDelta(t, time.Hour, e.TTL, float64(time.Minute))
		require.Positive(t, e.FD)
		e = one(t, all, ItemStore, "ß")
		require.Equal(t, [...]string{"stored", "add"}, [...]string{e.Status, e.Cmd})
		require.False(t, e.Expires)
		e = one(t, all, ItemStore, "none")
		require.Equal(t, "not_stored", e.Status)
		e = one(t, all, ItemGet, "missing")
		require.Equal(t, "not_found", e.Status)
		requireAlive(t, c, 1)
	})
}

func TestWatchConns(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		all := watched(t, s, func() {
			nc, err := mc.Dial()
			require.NoError(t, err)
			require.NoError(t, nc.Close())
		}, func(e Entry) bool { return e.Type == ConnClose }, ConnEvents)
		closed := one(t, all, ConnClose, "")
		require.Equal(t, "normal", closed.Reason)
		require.Positive(t, closed.FD)
		if network, _ := mc.DialAddr(); network == "unix" {
			require.Equal(t, [...]string{"unix", "local"}, [...]string{closed.Remote, closed.Transport})
		} else {
			require.Equal(t, [...]string{"127.0.0.1", "tcp"}, [...]string{closed.Remote, closed.Transport})
			require.NotZero(t, closed.Port)
			opened := one(t, all, ConnNew, "")
			require.Equal(t, opened.Port, closed.Port)
		}
	})
}

func TestWatchEvictions(t *testing.T) {
	onMatrix(t, []string{"-m", "2"}, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		all := watched(t, s, func() {
			for i := range 50 { // 10 MB
				set(t, c, "key"+strings.Repeat("x", i), strings.Repeat("v", 200_000))
			}
		}, func(e Entry) bool { return e.Type == Eviction }, Evictions)
		e := all[len(all)-1]
		require.True(t, strings.HasPrefix(e.Key, "key"))
		require.False(t, e.Fetched)
		require.False(t, e.Expires)
		require.Less(t, e.Idle, time.Hour)
	})
}

func TestWatchDeletions(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		set(t, c, "a", "value")
		var refused error
		for e, err := range s.Watch(patient(t), Deletions) {
			if refused = err; err != nil {
				break
			}
			if e.Type == Started {
				require.NoError(t, c.Delete(patient(t), "a"))
				continue
			}
			require.Equal(t, Deleted, e.Type)
			require.Equal(t, "a", e.Key)
			require.Equal(t, "md", e.Cmd)
			require.Equal(t, uint64(5), e.Size)
			break
		}
		if refused != nil { // it is older
			requireRefused(t, refused, client.ErrUnsupported, "watch", s)
		}
		for _, err := range s.Watch(patient(t), "nonsense") {
			requireRefused(t, err, client.ErrUnsupported, "watch", s)
		}
	})
}

// A server has room for 20.
func TestWatchTooMany(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		s, _ := dial(t, cfg, mc.Addr())
		var deeper func(n int) error
		deeper = func(n int) (last error) {
			for _, err := range s.Watch(patient(t), Mutations) {
				if err != nil || n == 0 {
					return err
				}
				return deeper(n - 1)
			}
			return errors.New("a watch has ended")
		}
		require.NoError(t, deeper(19))
		eventually(t, "those are closed", func() bool {
			g, err := s.General(patient(t))
			require.NoError(t, err)
			return g.LogWatchers == 0
		})
		requireRefused(t, deeper(20), ErrBusy, "watch", s)
	})
}

// The server's end is the watch's, and no end like any other.
func TestWatchLost(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		n, last := 0, error(nil)
		for _, err := range s.Watch(patient(t), Mutations) {
			if last = err; err == nil {
				n++
				require.NoError(t, mc.Stop())
			}
		}
		require.Equal(t, 1, n)
		require.ErrorIs(t, last, client.ErrConnLost)

		require.NoError(t, mc.Restart(t.Context()))
		for _, err := range s.Watch(patient(t), Mutations) {
			if last = err; err == nil {
				require.NoError(t, c.Close())
			}
		}
		require.ErrorIs(t, last, client.ErrClosed)
	})
}
