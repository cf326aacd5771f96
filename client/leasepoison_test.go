package client_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// poisoned makes a client that finds misuse of leases, and two items.
func poisoned(t *testing.T, kind client.EngineKind) *client.Client {
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix", ItemLimitBytes: 32 << 20, MemoryMiB: 256})
	c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, PoisonLeases: true}, mc.Addr())
	require.NoError(t, c.Set(patient(t), client.Item{Key: "small", Value: []byte("of some small value")}))
	require.NoError(t, c.Set(patient(t), client.Item{Key: "large", Value: largeValue(20 << 20)}))
	return c
}

// useReleased releases a lease and writes to its byte number at.
func useReleased(t *testing.T, c *client.Client, key string, at int) {
	l, err := c.GetLease(patient(t), key)
	require.NoError(t, err)
	v := l.Value
	require.NoError(t, l.Release())
	require.True(t, bytes.Equal(bytes.Repeat([]byte{0xDB}, len(v)), v), "who reads on must see it")
	v[at] = 7
}

func panicOf(f func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// With Config.PoisonLeases, who reads a value after its release sees that, and a
// write is found, in Close at the latest. What is used as it should be is not
// complained about.
func TestPoisonLeases(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, p := range []struct {
			key string
			at  int
		}{{"small", 0}, {"small", 18}, {"large", 5 << 20}, {"large", 20<<20 - 1}} {
			t.Run(fmt.Sprint(p.key, p.at), func(t *testing.T) {
				c := poisoned(t, kind)
				useReleased(t, c, p.key, p.at)
				text := panicOf(func() { _ = c.Close() })
				require.Contains(t, text, fmt.Sprintf("byte %d ", p.at))
				require.Contains(t, text, "client_test.useReleased", "where it was released")
				require.NotContains(t, text, "panicOf", "of those who have released nothing")
			})
		}
		t.Run("blameless", func(t *testing.T) {
			c := poisoned(t, kind)
			for range 1000 {
				require.NoError(t, firstLeaseError(c, patient(t), "small"))
			}
			for range 5 {
				require.NoError(t, firstLeaseError(c, patient(t), "large", "small"))
			}
			l, err := c.GetLease(patient(t), "small")
			require.NoError(t, err)
			scribble(l.Value)
			require.NoError(t, l.Release())
			require.ErrorIs(t, l.Release(), client.ErrReleased)
			require.Empty(t, panicOf(func() { require.NoError(t, c.Close()) }))
		})
	})
}

// A write is found while the client is in use: after so many further leases, or so
// many bytes of them.
func TestPoisonIsFoundInUse(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for key, leases := range map[string]int{"small": 256, "large": 4} {
			t.Run(key, func(t *testing.T) {
				c := poisoned(t, kind)
				useReleased(t, c, "small", 3)
				for i := 1; ; i++ {
					require.LessOrEqual(t, i, leases, "not found")
					l, err := c.GetLease(patient(t), key)
					require.NoError(t, err)
					var again error
					text := panicOf(func() { again = l.Release() })
					require.NoError(t, again)
					if text != "" {
						require.Contains(t, text, "byte 3 ")
						require.ErrorIs(t, l.Release(), client.ErrReleased, "a panic leaves no lock behind")
						break
					}
				}
				require.Empty(t, panicOf(func() { require.NoError(t, c.Close()) }), "found once")
			})
		}
	})
}
