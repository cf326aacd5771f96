package memcachedtest

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPauseAndResume(t *testing.T) {
	p := Start(t, Options{})
	c, err := p.Dial()
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, p.Pause())
	_, err = io.WriteString(c, "mn\r\n")
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = c.Read(make([]byte, 1))
	require.ErrorContains(t, err, "timeout", "a paused server answers nothing")
	require.NoError(t, p.Resume())
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "MN\r\n", line)

	require.NoError(t, p.Pause())
	require.NoError(t, p.Pause(), "twice is once")
	require.NoError(t, p.Stop(), "a paused server can be stopped")
	require.ErrorIs(t, p.Pause(), os.ErrProcessDone)
}
