package differential

import (
	"bufio"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// patience is the clients' timeout: no call of a test that works takes so long.
const patience = 20 * time.Second

const (
	scripts = 8 // for each engine and number of servers
	steps   = 300
)

// TestScripts plays scripts on both clients, and compares what each call returns and what each server holds
// in the end. A script that fails can be run alone by its name.
func TestScripts(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, servers := range []int{1, 3} {
			for seed := range uint64(scripts) {
				t.Run(fmt.Sprintf("servers=%d/seed=%d", servers, seed), func(t *testing.T) {
					network := []string{"tcp", "unix"}[seed%2]
					compare(t, kind, network, servers, plan(seed, steps, servers, time.Now()))
				})
			}
		}
	})
}

// onEngines runs f on both engines.
func onEngines(t *testing.T, f func(t *testing.T, kind client.EngineKind)) {
	t.Run("poll", func(t *testing.T) { f(t, client.Poll) })
	t.Run("uring", func(t *testing.T) {
		if err := uringMissing(); err != nil {
			t.Skipf("there is no io_uring here, so this half cannot be tested: %v", err)
		}
		f(t, client.URing)
	})
}

var uringMissing = sync.OnceValue(func() error {
	c, err := client.New([]string{"127.0.0.1:1"}, &client.Config{Engine: client.URing})
	if err != nil {
		return err
	}
	return c.Close()
})

// compare plays script on both clients, each with fresh servers of its own.
func compare(t *testing.T, kind client.EngineKind, network string, servers int, script []step) {
	want, got := newTheirs(), newOurs(kind)
	defer want.Close()
	defer got.Close()
	left, right := start(t, network, servers), start(t, network, servers)
	for i, s := range script {
		a, b := want.play(s, addrs(left)), got.play(s, addrs(right))
		require.Truef(t, reflect.DeepEqual(a, b), "step %d, %v:\n  gomemcache %v\n  ours       %v", i, s, a, b)
	}
	kept := 0
	for i := range servers {
		a, b := contents(t, left[i]), contents(t, right[i])
		require.Equalf(t, a, b, "what server %d holds: gomemcache's, and ours", i)
		kept += len(a)
	}
	require.NotZero(t, kept, "a script after which nothing is left shows little")
}

func start(t *testing.T, network string, n int) []*memcachedtest.Process {
	list := make([]*memcachedtest.Process, n)
	for i := range list {
		list[i] = memcachedtest.Start(t, memcachedtest.Options{Network: network, Args: plainServer})
	}
	return list
}

// plainServer keeps memcached's background threads away from items: while one holds a counter, its new value is
// not written in its place, and has another length (do_add_delta).
var plainServer = []string{"-o", "no_modern"}

func addrs(list []*memcachedtest.Process) (out []string) {
	for _, p := range list {
		_, addr := p.DialAddr()
		out = append(out, addr)
	}
	return out
}

// held is what a server knows of an item.
type held struct {
	value, flags, cas string
	hours             int // left to live; -1: for ever
}

// contents asks a server for all keys that scripts use, past both clients.
func contents(t *testing.T, p *memcachedtest.Process) map[string]held {
	c, err := p.Dial()
	require.NoError(t, err)
	defer c.Close()
	r := bufio.NewReader(c)
	out := map[string]held{}
	for _, key := range goodKeys {
		_, err := fmt.Fprintf(c, "mg %s v f c t\r\n", key)
		require.NoError(t, err)
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		if line == "EN\r\n" {
			continue
		}
		words := strings.Fields(line)
		require.Lenf(t, words, 5, "%q", line)
		size, err := strconv.Atoi(words[1])
		require.NoError(t, err)
		value := make([]byte, size+2)
		for n := 0; n < len(value); {
			m, err := r.Read(value[n:])
			require.NoError(t, err)
			n += m
		}
		seconds, err := strconv.Atoi(words[4][1:])
		require.NoError(t, err)
		h := held{value: string(value), flags: words[2], cas: words[3], hours: -1}
		if seconds >= 0 {
			h.hours = int(math.Round(float64(seconds) / hour))
		}
		out[key] = h
	}
	return out
}
