package client_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Stores of all sizes that many callers make at once over TLS are all answered.
// memcached loses sight of requests that share a TLS record with the end of another
// one, until more comes: see queue in package secure.
func TestTLSCrowdOfStores(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := startTLS(t, memcachedtest.Options{})
		c := dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, ConnsPerServer: 1, TLS: testTLS()}, mc.Addr())
		var wg sync.WaitGroup
		for g := range 24 {
			wg.Go(func() {
				for i := range 60 {
					key, size := fmt.Sprint(g), (g*7919+i*4001)%20_000
					want := bytes.Repeat([]byte{byte(i)}, size)
					if err := c.Set(patient(t), client.Item{Key: key, Value: want}); err != nil {
						t.Errorf("caller %d, store %d of %d bytes: %v", g, i, size, err)
						return
					}
					it, err := c.Get(patient(t), key)
					if err != nil || !bytes.Equal(it.Value, want) {
						t.Errorf("caller %d, get %d of %d bytes: %d came, %v", g, i, size, len(it.Value), err)
						return
					}
				}
			})
		}
		wg.Wait()
		items := make([]client.Item, 3000)
		for i := range items {
			items[i] = client.Item{Key: fmt.Sprint(i), Value: bytes.Repeat([]byte{byte(i)}, i*37%9000)}
		}
		require.NoError(t, c.SetMulti(patient(t), items))
	})
}
