package client_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func TestStoreAndGet(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		_, err := c.Get(ctx, "k")
		require.ErrorIs(t, err, client.ErrNotFound)
		require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: []byte("v1"), Flags: 0xdeadbeef}))
		it, err := c.Get(ctx, "k")
		require.NoError(t, err)
		assert.Equal(t, "k", it.Key)
		assert.Equal(t, "v1", string(it.Value))
		assert.Equal(t, uint32(0xdeadbeef), it.Flags)
		assert.NotZero(t, it.CAS)

		require.ErrorIs(t, c.Add(ctx, client.Item{Key: "k", Value: []byte("x")}), client.ErrNotStored)
		require.NoError(t, c.Add(ctx, client.Item{Key: "new", Value: []byte("x")}))
		require.NoError(t, c.Replace(ctx, client.Item{Key: "new", Value: []byte("b")}))
		require.ErrorIs(t, c.Replace(ctx, client.Item{Key: "none"}), client.ErrNotStored)
		require.NoError(t, c.Append(ctx, client.Item{Key: "new", Value: []byte("c")}))
		require.NoError(t, c.Prepend(ctx, client.Item{Key: "new", Value: []byte("a")}))
		require.ErrorIs(t, c.Append(ctx, client.Item{Key: "none"}), client.ErrNotStored)
		require.ErrorIs(t, c.Prepend(ctx, client.Item{Key: "none"}), client.ErrNotStored)
		it, err = c.Get(ctx, "new")
		require.NoError(t, err)
		assert.Equal(t, "abc", string(it.Value))

		require.NoError(t, c.Delete(ctx, "new"))
		require.ErrorIs(t, c.Delete(ctx, "new"), client.ErrNotFound)
	})
}

func TestCompareAndSwap(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: []byte("1")}))
		it, err := c.Get(ctx, "k")
		require.NoError(t, err)
		it.Value = []byte("2")
		require.NoError(t, c.CompareAndSwap(ctx, it))
		require.ErrorIs(t, c.CompareAndSwap(ctx, it), client.ErrConflict)
		require.NoError(t, c.Delete(ctx, "k"))
		require.ErrorIs(t, c.CompareAndSwap(ctx, it), client.ErrNotFound)
		require.ErrorIs(t, c.CompareAndSwap(ctx, client.Item{Key: "k"}), client.ErrArgument)
	})
}

func TestTTL(t *testing.T) {
	onSockets(t, func(t *testing.T, c *client.Client, mc *memcachedtest.Process) {
		ctx := patient(t)
		left := func() string { return command(t, mc, "mg k t") }
		require.NoError(t, c.Set(ctx, client.Item{Key: "k"}))
		assert.Equal(t, "HD t-1", left())
		require.NoError(t, c.Touch(ctx, "k", 100*time.Second+time.Millisecond))
		assert.Contains(t, []string{"HD t101", "HD t100"}, left())
		_, err := c.GetAndTouch(ctx, "k", 40*24*time.Hour) // absolute on the wire
		require.NoError(t, err)
		assert.Contains(t, []string{"HD t3456001", "HD t3456000", "HD t3455999"}, left(), "the server's clock ticks by the second, and may lag")
		require.ErrorIs(t, c.Touch(ctx, "none", time.Second), client.ErrNotFound)
		_, err = c.GetAndTouch(ctx, "none", time.Second)
		require.ErrorIs(t, err, client.ErrNotFound)
	})
}

func TestCounters(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		_, err := c.Increment(ctx, "n", 1, nil)
		require.ErrorIs(t, err, client.ErrNotFound)
		n, err := c.Increment(ctx, "n", 1, &client.Counter{Value: 10, TTL: time.Hour})
		require.NoError(t, err)
		assert.EqualValues(t, 10, n, "a miss stores the initial value and does not add")
		n, err = c.Decrement(ctx, "n", 5, nil)
		require.NoError(t, err)
		assert.EqualValues(t, 5, n, "the server pads the shorter number with a space")
		n, err = c.Decrement(ctx, "n", 9, nil)
		require.NoError(t, err)
		assert.EqualValues(t, 0, n)
		n, err = c.Increment(ctx, "n", 1<<63, nil)
		require.NoError(t, err)
		assert.EqualValues(t, uint64(1)<<63, n)
		require.NoError(t, c.Set(ctx, client.Item{Key: "text", Value: []byte("x")}))
		_, err = c.Increment(ctx, "text", 1, nil)
		require.ErrorIs(t, err, client.ErrNotNumber)
	})
}

// Values of every size come back as they were, whatever they contain.
func TestValues(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		for _, size := range []int{0, 1, 2, 100, 4095, 65490, 65536, 65537, 131072, 1 << 20 * 9 / 10} {
			v := make([]byte, size)
			for i := range v {
				v[i] = "\r\nEND VALUE\x00"[rand.IntN(12)]
			}
			require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: v}), size)
			it, err := c.Get(ctx, "k")
			require.NoError(t, err)
			require.True(t, bytes.Equal(v, it.Value), size)
			require.Len(t, it.Value, cap(it.Value), "a value holds no more memory than it needs, size %d", size)
		}
	})
}

func TestTooLarge(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: []byte("old")}))
		err := c.Set(ctx, client.Item{Key: "k", Value: make([]byte, 20<<20)})
		require.ErrorIs(t, err, client.ErrTooLarge)
		require.Equal(t, client.Answered, opError(t, err).Outcome)
		_, err = c.Get(ctx, "k")
		require.ErrorIs(t, err, client.ErrNotFound, "the server drops the old item")
		require.EqualValues(t, 1, c.Counters().Dials, "the connection is kept")
	})
}

func TestGetAppend(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		require.NoError(t, c.Set(ctx, client.Item{Key: "k", Value: []byte("value"), Flags: 3}))
		out, it, err := c.GetAppend(ctx, []byte("head "), "k")
		require.NoError(t, err)
		assert.Equal(t, "head value", string(out))
		assert.Equal(t, uint32(3), it.Flags)
		assert.Nil(t, it.Value)

		dst := make([]byte, 2, 100)
		out, _, err = c.GetAppend(ctx, dst, "k")
		require.NoError(t, err)
		assert.Same(t, &dst[0], &out[0], "appended in place where there is room")
		out, _, err = c.GetAppend(ctx, nil, "k")
		require.NoError(t, err)
		assert.Equal(t, "value", string(out))
		out, _, err = c.GetAppend(ctx, dst, "none")
		require.ErrorIs(t, err, client.ErrNotFound)
		assert.Equal(t, dst, out)
	})
}

func TestAdministration(t *testing.T) {
	onSockets(t, func(t *testing.T, c *client.Client, mc *memcachedtest.Process) {
		ctx := patient(t)
		require.NoError(t, c.Ping(ctx))
		v, err := c.Version(ctx)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{mc.Addr(): mc.Version()}, v)
		st, err := c.Stats(ctx)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(mc.PID()), st[mc.Addr()]["pid"])
		st, err = c.Stats(ctx, "settings")
		require.NoError(t, err)
		assert.Equal(t, "1048576", st[mc.Addr()]["item_size_max"])
		st, err = c.Stats(ctx, "items") // none yet
		require.NoError(t, err)
		assert.Empty(t, st[mc.Addr()])
		_, err = c.Stats(ctx, "items\r\nflush_all")
		require.ErrorIs(t, err, client.ErrArgument)
		require.NoError(t, c.Set(ctx, client.Item{Key: "k"}))
		require.NoError(t, c.FlushAll(ctx))
		_, err = c.Get(ctx, "k")
		require.ErrorIs(t, err, client.ErrNotFound)
	})
}

// Many goroutines share few connections, and each gets its own values.
func TestManyCallers(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		var wg sync.WaitGroup
		for g := range 100 {
			wg.Go(func() {
				for i := range 100 {
					key := fmt.Sprintf("g%d-%d", g, i%7)
					want := strings.Repeat(key, 1+i%50)
					if !assert.NoError(t, c.Set(ctx, client.Item{Key: key, Value: []byte(want)})) {
						return
					}
					it, err := c.Get(ctx, key)
					if !assert.NoError(t, err) || !assert.Equal(t, want, string(it.Value)) {
						return
					}
				}
			})
		}
		wg.Wait()
		n := c.Counters()
		assert.LessOrEqual(t, n.Dials, uint64(2))
		assert.Zero(t, n.Desyncs)
		assert.Zero(t, n.Timeouts)
	})
}

func TestClose(t *testing.T) {
	script := memcachedtest.OnKey("k", memcachedtest.Answer().Stall(nil))
	onScript(t, memcachedtest.ServerOptions{Script: script}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		require.NoError(t, c.Ping(patient(t)))
		errs := make(chan error)
		for range 10 {
			go func() {
				_, err := c.Get(context.Background(), "k")
				errs <- err
			}()
		}
		require.NoError(t, srv.Wait(patient(t), func() bool { return srv.RequestCount() == 11 }))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { assert.NoError(t, c.Close()) })
		}
		wg.Wait()
		for range 10 {
			require.ErrorIs(t, <-errs, client.ErrClosed)
		}
		require.NoError(t, c.Close())
		_, err := c.Get(context.Background(), "k")
		require.ErrorIs(t, err, client.ErrClosed)
		require.True(t, client.SafeToRetry(err))
		for _, err := range c.GetMulti(context.Background(), []string{"k"}) {
			require.ErrorIs(t, err, client.ErrClosed)
		}
		require.ErrorIs(t, c.Ping(context.Background()), client.ErrClosed)
	})
}

// command sends one line to a server and returns the line that it answers.
func command(t testing.TB, mc *memcachedtest.Process, line string) string {
	t.Helper()
	nc, err := mc.Dial()
	require.NoError(t, err)
	defer nc.Close()
	_, err = fmt.Fprintf(nc, "%s\r\n", line)
	require.NoError(t, err)
	b := make([]byte, 1024)
	n, err := nc.Read(b)
	require.NoError(t, err)
	return strings.TrimRight(string(b[:n]), "\r\n")
}
