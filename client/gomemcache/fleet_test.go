package memcache_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
)

// SetServers holds from the next call on, lets calls under way end where they are, and closes the connections
// to servers that are no longer listed.
func TestSetServers(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		one, first := start(t)
		_, second := start(t)
		list := listOf(t, first)
		c := dial(t, cfg, list)
		set(t, c, "k", "on the first")

		require.NoError(t, one.Pause())
		got := make(chan error)
		go func() {
			it, err := c.Get("k")
			if err == nil && string(it.Value) != "on the first" {
				err = errors.New("wrong value")
			}
			got <- err
		}()
		// Either side of the change may be first; the call ends well in both.
		require.NoError(t, list.SetServers(second))
		require.NoError(t, one.Resume())
		if err := <-got; !errors.Is(err, memcache.ErrCacheMiss) {
			require.NoError(t, err)
		}

		_, err := c.Get("k")
		require.Equal(t, memcache.ErrCacheMiss, err)
		set(t, c, "k", "on the second")
		eventually(t, "the first server's connections closed", func() bool { now, _ := connections(t, one); return now == 0 })
		require.NoError(t, list.SetServers(first))
		requireGet(t, c, "k", "on the first")
		require.Error(t, list.SetServers(second, "no port"))
		requireGet(t, c, "k", "on the first")
	})
}

// The same servers again, as a program sets them that looks them up by and by, keep their connections.
func TestSetServersAgain(t *testing.T) {
	one, first := start(t)
	_, second := start(t)
	list := listOf(t, first)
	c := dial(t, nil, list)
	set(t, c, "k", "v")
	_, before := connections(t, one)
	require.NoError(t, list.SetServers(first, first))
	requireGet(t, c, "k", "v")
	require.NoError(t, list.SetServers(first))
	requireGet(t, c, "k", "v")
	_, after := connections(t, one)
	require.Equal(t, before+1, after, "there was none but that of the first question")
	require.NoError(t, list.SetServers(first, second))
	_, err := c.GetMulti([]string{"a", "b", "c", "d"})
	require.NoError(t, err)
}

// No call fails because the list changes.
func TestSetServersUnderLoad(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		_, one := start(t)
		_, two := start(t)
		list := listOf(t, one, two)
		c := dial(t, cfg, list)
		var (
			stop atomic.Bool
			wg   sync.WaitGroup
		)
		errs := make(chan error, 8)
		for i := range 8 {
			wg.Go(func() {
				key := strconv.Itoa(i)
				for !stop.Load() {
					_, err := c.GetMulti([]string{key, key + "x", key + "y"})
					if err == nil {
						_, err = c.Get(key)
					}
					if err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
						errs <- err
						return
					}
				}
			})
		}
		for i := range 30 {
			servers := [][]string{{one}, {two, one}, {two}, {one, two, two}}[i%4]
			require.NoError(t, list.SetServers(servers...))
			set(t, c, "k", "v")
			if i%10 == 0 {
				require.NoError(t, c.Close())
			}
		}
		stop.Store(true)
		wg.Wait()
		select {
		case err := <-errs:
			require.NoError(t, err)
		default:
		}
	})
}

// A client that is dropped without Close gives its connections back when it is garbage.
func TestDroppedClient(t *testing.T) {
	mc, addr := start(t)
	func() {
		c := memcache.New(addr)
		c.Timeout = patience
		set(t, c, "k", "v")
		now, _ := connections(t, mc)
		require.Equal(t, 1, now)
	}()
	eventually(t, "connection closed", func() bool {
		runtime.GC()
		now, _ := connections(t, mc)
		return now == 0
	})
}

// byLength is a selector as a user may write it: an address for each length of key.
type byLength struct {
	addrs []net.Addr
	told  []net.Addr // what Each tells
	err   error
}

func (s *byLength) PickServer(key string) (net.Addr, error) {
	if len(key) >= len(s.addrs) {
		return nil, errors.New("no such server")
	}
	return s.addrs[len(key)], nil
}

func (s *byLength) Each(f func(net.Addr) error) error {
	for _, a := range s.told {
		if err := f(a); err != nil {
			return err
		}
	}
	return s.err
}

func TestOwnSelector(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		one, first := start(t)
		_, second := start(t)
		a, b := &net.UnixAddr{Net: "unix", Name: first}, &net.UnixAddr{Net: "unix", Name: second}
		s := &byLength{addrs: []net.Addr{0: a, 1: a, 2: b, 3: &net.UDPAddr{}, 4: &net.TCPAddr{}}}
		c := dial(t, cfg, s) // its Each tells of no server at all
		for range 5 {
			set(t, c, "k", "on the first")
			set(t, c, "kk", "on the second")
		}
		items, err := c.GetMulti([]string{"k", "kk"})
		require.NoError(t, err)
		require.Equal(t, "on the second", string(items["kk"].Value))
		_, before := connections(t, one)
		requireGet(t, c, "kk", "on the second")
		requireGet(t, c, "k", "on the first")
		_, after := connections(t, one)
		require.Equal(t, before+1, after, "one that Each does not tell is kept all the same; only the question is new")

		for _, key := range []string{"udp", "port", "no server"} {
			_, err := c.Get(key)
			require.Error(t, err)
			_, err = c.GetMulti([]string{"k", key})
			require.Error(t, err)
		}
		requireGet(t, c, "k", "on the first")

		s.told = []net.Addr{a, b}
		require.NoError(t, c.FlushAll())
		_, err = c.Get("kk")
		require.Equal(t, memcache.ErrCacheMiss, err)
		require.NoError(t, c.Ping())
		s.err = errors.New("of Each")
		require.Equal(t, s.err, c.Ping())
	})
}

// One server under two names gets one connection, and an address that cannot be costs its own keys only.
func TestAddresses(t *testing.T) {
	mc, addr := start(t)
	wd, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(wd, addr)
	require.NoError(t, err)
	c := dial(t, nil, listOf(t, addr, relative, "127.0.0.1:0"))
	stored := 0
	for i := range 30 {
		if err := c.Set(&memcache.Item{Key: strconv.Itoa(i)}); err == nil {
			stored++
		}
	}
	require.Greater(t, stored, 10)
	require.Less(t, stored, 30, "port 0 has keys too")
	now, _ := connections(t, mc)
	require.Equal(t, 1, now)
	require.Error(t, c.Ping(), "of all servers, and so of that, too")
}
