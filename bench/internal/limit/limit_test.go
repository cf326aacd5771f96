package limit

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/standin"
	"github.com/memring/memring/client"
)

func TestReply(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"VA 2 f0 O1\r\nhi\r\n", "hi"},
		{"VA 2 f0 O1\r\nhi\r", ""},
		{"VA 2 f0", ""},
		{"", ""},
	} {
		got, err := reply([]byte(c.in))
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, string(got), c.in)
	}
	for _, in := range []string{"EN\r\n", "\n", "V\n", "VA x\r\n", "VA 99999999\r\n", "SERVER_ERROR out of memory\r\n"} {
		_, err := reply([]byte(in))
		require.Error(t, err, in)
	}
}

// TestGets runs both against the stand-in. Where io_uring is refused, that has to be said.
func TestGets(t *testing.T) {
	const size = 1024
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	go func() { _ = standin.NewServer(standin.Options{Size: size}).Serve(l) }() // ends with the listener

	type getter interface {
		GetAppend(dst []byte, key string) ([]byte, error)
		Close() error
	}
	check := func(c getter) {
		dst := make([]byte, 0, size)
		for i := range 100 {
			key := cases.Key(size, i)
			got, err := c.GetAppend(dst, key)
			require.NoError(t, err)
			require.True(t, cases.Right(got, key, size))
		}
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = c.GetAppend(dst, "k") }))
		require.NoError(t, c.Close())
	}
	rw, err := OpenReadWrite(path)
	require.NoError(t, err)
	check(rw)
	ring, err := OpenRing(path)
	if err != nil {
		_, refused := client.New([]string{"unix:" + path}, &client.Config{Engine: client.URing})
		require.Error(t, refused, "memring has io_uring here, but: %v", err)
		return
	}
	check(ring)
}
