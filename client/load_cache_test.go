package client_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Without the cache the load is called all the same, one for all callers.
func TestLoadWithoutCache(t *testing.T) {
	mute := memcachedtest.Missing().Unexecuted()
	for name, test := range map[string]struct {
		fails func(*memcachedtest.Server)
		took  time.Duration // what the cache costs, apart from the load
		err   error
	}{
		"refused": {func(s *memcachedtest.Server) { _ = s.Refuse(true); s.CloseConns() }, 0, client.ErrUnavailable},
		"silent":  {func(s *memcachedtest.Server) { s.SetScript(memcachedtest.OnCommand("mg", mute)) }, time.Second, client.ErrTimeout},
		"full": {func(s *memcachedtest.Server) {
			s.SetScript(memcachedtest.OnCommand("mg", memcachedtest.ErrorLine("SERVER_ERROR out of memory")))
		}, 0, client.ErrServer},
		"broken": {func(s *memcachedtest.Server) {
			s.SetScript(memcachedtest.OnCommand("mg", memcachedtest.Garbage()))
		}, 0, client.ErrDesync},
	} {
		t.Run(name, func(t *testing.T) {
			inLoadBubble(t, func(t *testing.T, b *loadBubble) {
				c := b.client()
				require.NoError(t, c.Ping(t.Context()))
				test.fails(b.srv)
				var told errorList
				var n atomic.Int64
				opts := hour
				opts.Notify = told.add
				var calls []*call
				for range 5 {
					calls = append(calls, start(t.Context(), c, func(ctx context.Context) (client.Item, error) {
						n.Add(1)
						return after(time.Minute, "v")(ctx)
					}, opts))
				}
				for _, r := range calls {
					require.Equal(t, "v", r.value(t))
					require.Equal(t, time.Minute+test.took, r.took)
				}
				require.EqualValues(t, 1, n.Load())
				require.EqualValues(t, 5, c.LoadCounters().WithoutCache)
				require.True(t, told.has(test.err))
				for _, r := range b.srv.Requests() {
					require.NotEqual(t, "ms", r.Command, "nobody may store without a claim")
				}
			})
		})
	}
}

// A server that fails while its claim is waited for is no reason to wait on.
func TestCacheFailsWhileWaiting(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		b.say("mg k v N0")
		var n atomic.Int64
		load := func(ctx context.Context) (client.Item, error) {
			n.Add(1)
			return after(time.Second, "v")(ctx)
		}
		calls := []*call{start(t.Context(), c, load, hour), start(t.Context(), c, load, hour)}
		time.Sleep(time.Second)
		_ = b.srv.Refuse(true)
		b.srv.CloseConns()
		for _, r := range calls {
			require.Equal(t, "v", r.value(t))
			require.LessOrEqual(t, r.took, 3*time.Second)
		}
		require.EqualValues(t, 1, n.Load())
	})
}

// A context that has ended is no failure of the cache: nothing is loaded for it.
func TestNoLoadAfterDeadline(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		b.srv.SetScript(memcachedtest.OnCommand("mg", memcachedtest.Missing()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		r := start(ctx, c, noLoad(t), hour)
		<-r.done
		require.ErrorIs(t, r.err, client.ErrTimeout)
		require.Equal(t, time.Second/2, r.took)
	})
}

// If it is unknown whether the store was carried out, the value is returned and the
// claim given back, which does nothing if it was.
func TestLoadStoredPerhaps(t *testing.T) {
	for name, test := range map[string]struct {
		action memcachedtest.Action
		stored bool
	}{"carried out": {memcachedtest.Missing(), true}, "not carried out": {memcachedtest.Missing().Unexecuted(), false}} {
		t.Run(name, func(t *testing.T) {
			inLoadBubble(t, func(t *testing.T, b *loadBubble) {
				c := b.client()
				var told errorList
				opts := hour
				opts.Notify = told.add
				b.srv.SetScript(memcachedtest.OnCommand("ms", test.action))
				r := start(t.Context(), c, loads("v"), opts)
				require.Equal(t, "v", r.value(t))
				require.True(t, told.has(client.ErrTimeout))
				require.Equal(t, test.stored, b.say("mg k s") == "HD s1")
				require.Equal(t, !test.stored, b.say("mg k s") == "EN")
			})
		})
	}
}

// Who leaves while the value is being stored has it.
func TestLoadLeavesWithTheValue(t *testing.T) {
	inLoadBubble(t, func(t *testing.T, b *loadBubble) {
		c := b.client()
		release := make(chan struct{})
		b.srv.SetScript(memcachedtest.OnCommand("ms", memcachedtest.Answer().Stall(release)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/4)
		defer cancel()
		r := start(ctx, c, loads("v"), hour)
		require.Equal(t, "v", r.value(t))
		require.Equal(t, time.Second/4, r.took)
		close(release)
		synctest.Wait()
		require.Equal(t, "HD s1 t3600", b.say("mg k s t"), "it was stored all the same")
	})
}

// A server without CAS cannot keep claims, so it is as good as none.
func TestLoadWithoutCAS(t *testing.T) {
	mc := memcachedtest.Start(t, memcachedtest.Options{Args: []string{"-C"}})
	c := dial(t, &client.Config{OpTimeout: 20 * time.Second}, mc.Addr())
	var told errorList
	opts := hour
	opts.Notify = told.add
	for i := range 2 {
		it, err := c.GetOrLoad(patient(t), "k", loads("v"), opts)
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value))
		require.Equal(t, i+1, told.len())
		require.EqualValues(t, i+1, c.LoadCounters().Loads)
	}
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("stored")}))
	it, err := c.GetOrLoad(patient(t), "k", noLoad(t), opts)
	require.NoError(t, err)
	require.Equal(t, "stored", string(it.Value))
	// A refresh would be for nothing.
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("stored"), TTL: time.Minute}))
	opts.Refresh = time.Minute * 30
	it, err = c.GetOrLoad(patient(t), "k", noLoad(t), opts)
	require.NoError(t, err)
	require.Equal(t, "stored", string(it.Value))
	require.NoError(t, c.Close())
	require.Zero(t, c.LoadCounters().Background)
}
