package client_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// onServers runs f on both engines against n real servers on both networks.
func onServers(t *testing.T, n int, f func(t *testing.T, c *client.Client, mcs []*memcachedtest.Process)) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		var mcs []*memcachedtest.Process
		var addrs []string
		for i := range n {
			mc := memcachedtest.Start(t, memcachedtest.Options{Network: []string{"tcp", "unix"}[i%2]})
			mcs = append(mcs, mc)
			addrs = append(addrs, mc.Addr())
		}
		f(t, dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second}, addrs...), mcs)
	})
}

// fill stores a value under each key whose number divides by step.
func fill(t *testing.T, c *client.Client, keys []string, step int) {
	for i := 0; i < len(keys); i += step {
		require.NoError(t, c.Set(patient(t), client.Item{Key: keys[i], Value: valueOf(keys[i]), Flags: uint32(i)}))
	}
}

// valueOf makes sizes from 0 to beyond one receive buffer, by the key.
func valueOf(key string) []byte {
	v := make([]byte, 0, len(key)*len(key)*3)
	n := 0
	for _, b := range []byte(key) {
		n = n*31 + int(b)
	}
	for range n % 100 {
		v = append(v, key...)
	}
	if n%37 == 0 {
		v = append(v, make([]byte, 70_000)...)
	}
	return v
}

func TestGetMulti(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " servers"), func(t *testing.T) {
			onServers(t, n, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
				keys := keysOf("multi-%d", 1000)
				fill(t, c, keys, 3)
				for range 3 {
					got := map[string]bool{}
					for it, err := range c.GetMulti(patient(t), keys) {
						require.NoError(t, err)
						require.False(t, got[it.Key], "twice")
						got[it.Key] = true
						require.Equal(t, string(valueOf(it.Key)), string(it.Value))
						require.Equal(t, it.Key, keys[it.Flags])
						require.NotZero(t, it.CAS)
						require.Len(t, it.Value, cap(it.Value))
					}
					require.Len(t, got, (1000+2)/3)
				}
				assert.EqualValues(t, n, c.Counters().Dials)
			})
		})
	}
}

func TestGetMultiOddInput(t *testing.T) {
	onServers(t, 1, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		for it, err := range c.GetMulti(patient(t), nil) {
			t.Fatalf("nothing was asked for: %v %v", it, err)
		}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
		n := 0
		for it, err := range c.GetMulti(patient(t), []string{"k", "none", "k", "none"}) {
			require.NoError(t, err)
			require.Equal(t, "v", string(it.Value))
			n++
		}
		require.Equal(t, 2, n)
		// More keys than one line takes.
		keys := keysOf("a-rather-long-key-that-fills-the-line-soon-%060d", 2000)
		fill(t, c, keys, 100)
		n = 0
		for _, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 20, n)
	})
}

// Leaving the loop early keeps the connections open and in sync.
func TestGetMultiBreak(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		keys := keysOf("break-%d", 300)
		fill(t, c, keys, 1)
		for i := range 50 {
			n := 0
			for it, err := range c.GetMulti(patient(t), keys) {
				require.NoError(t, err)
				require.Equal(t, string(valueOf(it.Key)), string(it.Value))
				if n++; n > i {
					break
				}
			}
			it, err := c.Get(patient(t), keys[i])
			require.NoError(t, err)
			require.Equal(t, string(valueOf(keys[i])), string(it.Value))
		}
		n := c.Counters()
		require.Zero(t, n.Losses)
		require.Zero(t, n.Desyncs)
	})
}

// The loop's body may use the client itself.
func TestGetMultiNested(t *testing.T) {
	onServers(t, 2, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		keys := keysOf("nested-%d", 30)
		fill(t, c, keys, 1)
		n := 0
		for it, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			again, err := c.Get(patient(t), it.Key)
			require.NoError(t, err)
			require.Equal(t, it.Value, again.Value)
			for _, err := range c.GetMulti(patient(t), keys[:3]) {
				require.NoError(t, err)
				n++
			}
		}
		require.Equal(t, 90, n)
	})
}

// One dead server costs only its own keys, and the error names it and them.
func TestGetMultiDeadServer(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, mcs []*memcachedtest.Process) {
		keys := keysOf("dead-%d", 300)
		fill(t, c, keys, 1)
		require.NoError(t, mcs[1].Stop())
		hits, lost := 0, map[string]bool{}
		for _, err := range c.GetMulti(patient(t), keys) {
			if err == nil {
				hits++
				continue
			}
			op := opError(t, err)
			require.Equal(t, mcs[1].Addr(), op.Server)
			for _, k := range op.Keys {
				lost[k] = true
			}
		}
		require.NotEmpty(t, lost)
		require.Equal(t, 300, hits+len(lost))
		for _, k := range keys {
			_, err := c.Get(patient(t), k)
			require.Equal(t, lost[k], err != nil, "%v", err)
		}
	})
}

// A stalled server costs the call its deadline, and only its own keys.
func TestGetMultiStalledServer(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, mcs []*memcachedtest.Process) {
		keys := keysOf("stalled-%d", 300)
		fill(t, c, keys, 1)
		require.NoError(t, mcs[2].Pause())
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		hits, lost := 0, 0
		for _, err := range c.GetMulti(ctx, keys) {
			if err == nil {
				hits++
				continue
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, mcs[2].Addr(), opError(t, err).Server)
			lost += len(opError(t, err).Keys)
		}
		require.NotZero(t, lost)
		require.Equal(t, 300, hits+lost)
		require.NoError(t, mcs[2].Resume())
		hits = 0
		for it, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			require.Equal(t, string(valueOf(it.Key)), string(it.Value))
			hits++
		}
		require.Equal(t, 300, hits)
		n := c.Counters()
		require.Zero(t, n.Losses, "the connection was kept")
		require.Zero(t, n.Desyncs)
	})
}

// byPrefix sends keys that begin with "a" to the first server, others to the
// second.
type byPrefix struct{}

func (byPrefix) Pick(key string) int {
	if key[0] == 'a' {
		return 0
	}
	return 1
}

// A server that must be connected to first is asked as soon as that is done,
// also while the call waits for another that stalls.
func TestGetMultiColdBesideStalled(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		stalls := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
			Script: memcachedtest.OnCommand("gets", memcachedtest.Answer().Stall(nil)),
		})
		cold := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
		cfg := &client.Config{Engine: kind, OpTimeout: -1, Selector: func([]string) client.Selector { return byPrefix{} }}
		c := dial(t, cfg, stalls.Addr(), cold.Addr())
		require.NoError(t, c.Set(patient(t), client.Item{Key: "a"}))
		other := dial(t, nil, cold.Addr())
		require.NoError(t, other.Set(patient(t), client.Item{Key: "b", Value: []byte("from the cold")}))
		for it, err := range c.GetMulti(patient(t), []string{"a", "b"}) {
			require.NoError(t, err)
			require.Equal(t, "from the cold", string(it.Value))
			break
		}
	})
}
