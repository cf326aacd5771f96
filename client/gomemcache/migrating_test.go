package memcache_test

import (
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
)

func crcSelector(servers []string) client.Selector { return crc(len(servers)) }

type crc uint32 // the number of servers

func (n crc) Pick(key string) int { return int(crc32.ChecksumIEEE([]byte(key)) % uint32(n)) }

// The Selector that MIGRATING.md shows is the code above, and chooses as a ServerList does.
func TestSelectorOfMigratingPage(t *testing.T) {
	page, err := os.ReadFile("MIGRATING.md")
	require.NoError(t, err)
	here, err := os.ReadFile("migrating_test.go")
	require.NoError(t, err)
	_, code, ok := strings.Cut(string(page), "```go\n")
	require.True(t, ok)
	code, _, _ = strings.Cut(code, "```")
	require.Contains(t, string(here), code)

	servers := []string{"10.0.0.1:11211", "10.0.0.2:11211", "/run/mc.sock", "10.0.0.3:11211", "10.0.0.4:11211"}
	list, mine := listOf(t, servers...), crcSelector(servers)
	for range 1000 {
		key := make([]byte, 1+rand.N(client.MaxKeyLen))
		for i := range key {
			key[i] = byte(rand.N(256))
		}
		addr, err := list.PickServer(string(key))
		require.NoError(t, err)
		require.Equal(t, addr.String(), servers[mine.Pick(string(key))])
	}
}
