package differential

import (
	"fmt"
	"math/rand/v2"
	"testing"

	theirs "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	ours "github.com/memring/memring/client/gomemcache"
)

// A warm cache stays warm: both lists say the same of every key, valid or not.
func TestPickServer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 20 {
		servers := make([]string, n)
		for i := range servers {
			servers[i] = choose(r, []string{
				fmt.Sprintf("10.0.0.%d:11211", r.IntN(20)), fmt.Sprintf("[::%x]:11211", 1+r.IntN(20)),
				fmt.Sprintf("/run/memcached/%d.sock", r.IntN(20)), "relative/socket", ":11211", "127.0.0.1:http",
			})
		}
		var want theirs.ServerList
		var got ours.ServerList
		require.NoError(t, want.SetServers(servers...))
		require.NoError(t, got.SetServers(servers...))
		for range 500 {
			key := make([]byte, r.IntN(300))
			for i := range key {
				key[i] = byte(r.Uint32())
			}
			a, errA := want.PickServer(string(key))
			b, errB := got.PickServer(string(key))
			require.Equal(t, theirClass(errA), ourClass(errB))
			if errA == nil {
				require.Equal(t, a.Network()+" "+a.String(), b.Network()+" "+b.String())
			}
		}
		require.Error(t, want.SetServers("10.0.0.1:11211", "no port"))
		require.Error(t, got.SetServers("10.0.0.1:11211", "no port"))
	}
}
