package ring

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request that goes out in many parts, because the server takes no more at a
// time, is no sign of a kernel that refuses, for which the driver would pause.
func TestManyShortSendsWithoutPause(t *testing.T) {
	e, err := New()
	if err != nil {
		t.Skipf("there is no io_uring here: %v", err)
	}
	defer func() { require.NoError(t, e.Close()) }()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	const size = 8 << 20
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.CopyN(io.Discard, c, size)
		_, _ = c.Write([]byte("thanks"))
		_, _ = io.Copy(io.Discard, c)
	}()
	w := newWaiter()
	c, err := e.Dial(context.Background(), "unix", l.Addr().String(), thanked{ender{w}})
	require.NoError(t, err)
	_, err = c.Send(nil, make([]byte, size), nil, nil)
	require.NoError(t, err)
	require.NoError(t, e.Wait(w, nil, time.Now().Add(20*time.Second), nil))
	require.Zero(t, e.pauses)
}

// thanked signals its waiter when something comes.
type thanked struct{ ender }

func (h thanked) Received(window []byte) (int, []byte, error) {
	h.w.Signal()
	return len(window), nil, nil
}
