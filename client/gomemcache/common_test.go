package memcache_test

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	memcache "github.com/memring/memring/client/gomemcache"
	"github.com/memring/memring/client/memcachedtest"
)

// patience is the timeout of calls that shall succeed: none that works takes so long.
const patience = 20 * time.Second

var uringMissing = sync.OnceValue(func() error {
	c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
	if err != nil {
		return err
	}
	return c.Close()
})

// onEngines runs f on both engines.
func onEngines(t *testing.T, f func(t *testing.T, cfg *client.Config)) {
	t.Run("poll", func(t *testing.T) { f(t, &client.Config{Engine: client.Poll}) })
	t.Run("uring", func(t *testing.T) {
		if err := uringMissing(); err != nil {
			t.Skipf("there is no io_uring here, so this half cannot be tested: %v", err)
		}
		f(t, &client.Config{Engine: client.URing})
	})
}

// dial makes a client of ss that is closed with the test.
func dial(t *testing.T, cfg *client.Config, ss memcache.ServerSelector) *memcache.Client {
	c := memcache.NewFromSelector(ss)
	c.Timeout, c.Config = patience, cfg
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func start(t *testing.T) (mc *memcachedtest.Process, addr string) {
	mc = memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
	_, addr = mc.DialAddr()
	return mc, addr
}

func listOf(t *testing.T, servers ...string) *memcache.ServerList {
	var list memcache.ServerList
	require.NoError(t, list.SetServers(servers...))
	return &list
}

func set(t *testing.T, c *memcache.Client, key, value string) {
	t.Helper()
	require.NoError(t, c.Set(&memcache.Item{Key: key, Value: []byte(value)}))
}

func requireGet(t *testing.T, c *memcache.Client, key, value string) {
	t.Helper()
	it, err := c.Get(key)
	require.NoError(t, err)
	require.Equal(t, value, string(it.Value))
}

// connections asks a server how many it has now, that of the question apart, and how many it has ever had.
func connections(t *testing.T, mc *memcachedtest.Process) (now, ever int) {
	t.Helper()
	c, err := mc.Dial()
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprint(c, "stats\r\n")
	require.NoError(t, err)
	stats := map[string]int{}
	for r := bufio.NewScanner(c); r.Scan() && r.Text() != "END"; {
		words := strings.Fields(r.Text())
		stats[words[1]], _ = strconv.Atoi(words[2])
	}
	require.Contains(t, stats, "curr_connections")
	return stats["curr_connections"] - 1, stats["total_connections"]
}

// eventually waits for cond, which asynchronous work makes true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
