package standin

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLineDelaysEachReplyByItself(t *testing.T) {
	l := line{}
	_, ok := l.next()
	require.False(t, ok)

	l.push(100, []byte("a"))
	l.push(110, []byte("bb"))
	l.push(160, nil) // a quiet request
	l.push(160, []byte("c"))
	due, ok := l.next()
	require.True(t, ok)
	require.EqualValues(t, 100, due)
	require.Empty(t, l.due(99))
	require.Equal(t, "a", string(l.due(100)))
	require.Equal(t, "abb", string(l.due(110)), "requests in flight together wait together")

	l.wrote(2) // a short write
	due, _ = l.next()
	require.EqualValues(t, 110, due, "half of bb is still to go")
	require.Equal(t, "b", string(l.due(120)))
	l.wrote(1)
	require.Equal(t, "c", string(l.due(160)))
	l.wrote(1)
	_, ok = l.next()
	require.False(t, ok)
}

func TestLineForgetsWhatIsSent(t *testing.T) {
	l := line{}
	reply := make([]byte, 1000)
	for i := range 5000 { // never empty
		l.push(time.Duration(i+1), reply)
		if i > 0 {
			require.Len(t, l.due(time.Duration(i)), len(reply))
			l.wrote(len(reply))
		}
	}
	require.Less(t, cap(l.buf), 4*compactBytes)
	require.Less(t, cap(l.entries), 2000)
}

// TestServePipelined needs no exact clock: requests answered one after the other would take ten times
// the bound.
func TestServePipelined(t *testing.T) {
	const delay, requests = 50 * time.Millisecond, 40
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- NewServer(Options{Size: testSize, Delay: delay}).Serve(l) }()
	conn, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)

	begin := time.Now()
	_, err = conn.Write([]byte(strings.Repeat("mg a O1\r\n", requests)))
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	for i := range requests {
		got, err := in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HD O1\r\n", got, fmt.Sprint("reply ", i))
	}
	took := time.Since(begin)
	require.GreaterOrEqual(t, took, delay)
	require.Less(t, took, requests*delay/10+time.Second/2)

	require.NoError(t, conn.Close())
	require.NoError(t, l.Close())
	require.NoError(t, <-served)
}
