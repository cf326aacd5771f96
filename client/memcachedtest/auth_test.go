package memcachedtest_test

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// Before and after authentication the in-process server answers as the real one does.
func TestAuthAsMemcached(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth")
	require.NoError(t, os.WriteFile(file, []byte("user:word\n"), 0o600))
	mc := memcachedtest.Start(t, memcachedtest.Options{Args: []string{"-Y", file}})
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
		Auth: func(user, password string) bool { return user == "user" && password == "word" },
	})
	for _, requests := range [][]string{
		{"version\r\n", "mn    \r\n", "set k 0 0 9\r\nuser word\r\n", "version\r\n", "set k 0 0 1\r\nv\r\n", "get k\r\n"},
		{"set k 0 0 9\r\nuser nope\r\n", "set k 0 0 9\r\nuser word\r\n", "mn\r\n"},
		{"set k 0 0 4\r\nuser\r\n", "version\r\n"},
		{"set k 0 0 9\r\nuser wordXX", "version\r\n"},
		{"get k\r\n", "set k 0 0\r\n", "gets k\r\n"},
	} {
		var replies [2][]string
		for i, addr := range []string{mc.Addr(), srv.Addr()} {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
			in := bufio.NewReader(c)
			for _, r := range requests {
				_, err := c.Write([]byte(r))
				require.NoError(t, err)
				line, err := in.ReadString('\n')
				require.NoError(t, err, "%q", r)
				replies[i] = append(replies[i], line)
			}
			require.NoError(t, c.Close())
		}
		require.Equal(t, replies[0], replies[1], "to %q", requests)
	}
	require.NotContains(t, srv.Unauthenticated(), "get k\r\n")
	require.Contains(t, srv.Unauthenticated(), "version")
	require.Len(t, srv.Requests(), 4)
}
