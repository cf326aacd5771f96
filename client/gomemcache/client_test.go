package memcache_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
	"github.com/memring/memring/client/memcachedtest"
)

// What calls do is compared with gomemcache itself in bench/differential. These are the differences.

// GetAndTouch sets CasID, so that CompareAndSwap can follow.
func TestGetAndTouchBringsCasID(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		_, addr := start(t)
		c := dial(t, cfg, listOf(t, addr))
		set(t, c, "k", "1")
		it, err := c.GetAndTouch("k", 100)
		require.NoError(t, err)
		require.NotZero(t, it.CasID)
		it.Value = []byte("2")
		require.NoError(t, c.CompareAndSwap(it))
		require.ErrorIs(t, c.CompareAndSwap(it), memcache.ErrCASConflict)
	})
}

func TestErrors(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc, addr := start(t)
		c := dial(t, cfg, listOf(t, addr))

		err := c.Set(&memcache.Item{Key: "k", Value: make([]byte, 2<<20)})
		require.ErrorIs(t, err, memcache.ErrServerError)
		require.ErrorIs(t, err, client.ErrTooLarge, "memring's own errors are there, too")

		set(t, c, "k", "no number")
		_, err = c.Increment("k", 1)
		require.EqualError(t, err, "memcache: client error: cannot increment or decrement non-numeric value")
		require.ErrorIs(t, err, client.ErrNotNumber)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)

		_, err = c.Get("")
		require.Equal(t, memcache.ErrMalformedKey, err)
		_, err = c.GetMulti([]string{"k", ""})
		require.Equal(t, memcache.ErrMalformedKey, err)

		require.NoError(t, mc.Pause())
		c.Timeout = 10 * time.Millisecond
		_, err = c.Get("k")
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "as of a socket's deadline")
		ne, ok := err.(net.Error) //nolint:errorlint // as programs did before errors.As
		require.True(t, ok)
		require.True(t, ne.Timeout())
		require.NoError(t, mc.Resume())

		require.NoError(t, mc.Stop())
		c.Timeout = patience
		_, err = c.Get("k")
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.NotErrorIs(t, err, memcache.ErrServerError)
	})
}

func TestConnectTimeout(t *testing.T) {
	c := dial(t, nil, listOf(t, "192.0.2.1:11211"))
	c.Timeout = 10 * time.Millisecond
	c.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for range 3 { // the first waits for the connection; the others may learn how that went
		_, err := c.Get("k")
		var late *memcache.ConnectTimeoutError
		require.ErrorAs(t, err, &late)
		require.Equal(t, "192.0.2.1:11211", late.Addr.String())
		require.Equal(t, "memcache: connect timeout to 192.0.2.1:11211", err.Error())
		require.True(t, client.SafeToRetry(err))
	}
	_, err := c.GetMulti([]string{"k", "l"})
	var late *memcache.ConnectTimeoutError
	require.ErrorAs(t, err, &late)
}

func TestNegativeTimeout(t *testing.T) {
	_, addr := start(t)
	c := dial(t, nil, listOf(t, addr))
	c.Timeout = -1
	_, err := c.Get("k")
	require.Error(t, err)
	c.Timeout = 0
	require.NoError(t, c.Ping(), "DefaultTimeout")
}

// Fields set after New and before the first call are those that count.
func TestFieldsAreReadLate(t *testing.T) {
	mc, addr := start(t)
	c := memcache.New(addr)
	defer c.Close()
	c.Timeout, c.MaxIdleConns = patience, 100
	var dials atomic.Int32
	c.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		if network != "unix" || address != addr {
			return nil, errors.New("wrong address " + network + " " + address)
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	set(t, c, "k", "v")
	require.EqualValues(t, 1, dials.Load())
	requireGet(t, c, "k", "v")
	now, _ := connections(t, mc)
	require.Equal(t, 1, now, "one connection for all calls")
}

func TestConfigThatCannotBe(t *testing.T) {
	_, addr := start(t)
	c := dial(t, &client.Config{Rings: -1}, listOf(t, addr))
	require.ErrorIs(t, c.Ping(), client.ErrConfig)
	_, err := c.GetMulti([]string{"k"})
	require.ErrorIs(t, err, client.ErrConfig)
}

func TestNoServers(t *testing.T) {
	for _, c := range []*memcache.Client{memcache.New(), memcache.New("no port"), memcache.NewFromSelector(new(memcache.ServerList))} {
		_, err := c.Get("k")
		require.Equal(t, memcache.ErrNoServers, err)
		require.Equal(t, memcache.ErrNoServers, c.Set(&memcache.Item{Key: "not valid"}))
		require.Equal(t, memcache.ErrNoServers, c.DeleteAll())
		_, err = c.GetMulti([]string{"k"})
		require.Equal(t, memcache.ErrNoServers, err)
		items, err := c.GetMulti(nil)
		require.NoError(t, err)
		require.NotNil(t, items)
		require.NoError(t, c.Ping(), "of all none has failed")
		require.NoError(t, c.Close())
	}
}

// After Close the client connects anew.
func TestClose(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc, addr := start(t)
		c := dial(t, cfg, listOf(t, addr))
		require.NoError(t, c.Close())
		for i := range 3 {
			set(t, c, "k", strconv.Itoa(i))
			requireGet(t, c, "k", strconv.Itoa(i))
			require.NoError(t, c.Close())
			require.NoError(t, c.Close())
			eventually(t, "connections closed", func() bool { now, _ := connections(t, mc); return now == 0 })
		}
	})
}

// Close lets calls end that are under way.
func TestCloseWaits(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc, addr := start(t)
		c := dial(t, cfg, listOf(t, addr))
		set(t, c, "k", "v")
		require.NoError(t, mc.Pause())
		var wg sync.WaitGroup
		started, errs := make(chan struct{}, 4), make(chan error, 5)
		for range 4 {
			wg.Go(func() {
				started <- struct{}{}
				_, err := c.Get("k")
				errs <- err
			})
		}
		for range 4 {
			<-started
		}
		wg.Go(func() { errs <- c.Close() })
		require.NoError(t, mc.Resume())
		wg.Wait()
		for range 5 {
			require.NoError(t, <-errs)
		}
	})
}

// Many callers at once get their own values.
func TestManyCallers(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		_, one := start(t)
		_, two := start(t)
		c := dial(t, cfg, listOf(t, one, two))
		var wg sync.WaitGroup
		errs := make(chan error, 32)
		for i := range 32 {
			wg.Go(func() { errs <- ownValues(c, strconv.Itoa(i)) })
		}
		wg.Wait()
		for range 32 {
			require.NoError(t, <-errs)
		}
	})
}

// ownValues stores values under keys that begin with who, and gets them.
func ownValues(c *memcache.Client, who string) error {
	var keys []string
	for i := range 50 {
		key := who + ":" + strconv.Itoa(i)
		keys = append(keys, key)
		if err := c.Set(&memcache.Item{Key: key, Value: []byte("of " + key)}); err != nil {
			return err
		}
		if it, err := c.Get(key); err != nil || string(it.Value) != "of "+key {
			return errors.Join(err, errors.New("wrong value"))
		}
	}
	items, err := c.GetMulti(keys)
	if err != nil || len(items) != len(keys) {
		return errors.Join(err, errors.New("items are missing"))
	}
	for key, it := range items {
		if it.Key != key || string(it.Value) != "of "+key {
			return errors.New("wrong value")
		}
	}
	return nil
}

// A server that answers with what is no number is not quoted: it may be anybody's value.
func TestNoNumber(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		Script: memcachedtest.OnCommand("ma", memcachedtest.Answer().Edit(func(reply []byte) []byte {
			return bytes.Replace(reply, []byte("\r\n15\r\n"), []byte("\r\nmy\r\n"), 1)
		})),
	})
	c := dial(t, nil, listOf(t, srv.Addr()))
	set(t, c, "n", "10")
	n, err := c.Increment("n", 5)
	require.Zero(t, n)
	require.ErrorIs(t, err, memcache.ErrServerError)
	require.NotContains(t, err.Error(), "my")
	var op *client.OpError
	require.ErrorAs(t, err, &op)
	n, err = c.Increment("n", 1)
	require.NoError(t, err)
	require.EqualValues(t, 16, n)
}
