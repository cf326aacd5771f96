package client_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

const (
	narrowSets  = 100_000
	narrowValue = 1 << 10
	narrowRoom  = 8 << 10 // bytes, asked for as each socket buffer
)

// narrow is a proxy before mc with small socket buffers, on UNIX sockets: TCP over
// loopback, with its huge segments, takes ages with a small window. All the replies to
// narrowSets requests find no place in it: whoever writes those and reads nothing is
// stuck, because the proxy waits for a reply to be read, memcached for the proxy, and
// so does not read on.
func narrow(t *testing.T, mc *memcachedtest.Process) string {
	path := filepath.Join(t.TempDir(), "narrow")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	pass := func(to, from net.Conn) {
		// No ReadFrom: the kernel must not splice through buffers of its own.
		_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, narrowRoom))
		to.Close()
		from.Close()
	}
	go func() {
		defer close(done)
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := mc.Dial()
			if err != nil {
				in.Close()
				continue
			}
			go pass(tighten(in), tighten(out))
			go pass(out, in)
		}
	}()
	return path
}

// tighten makes a socket's buffers small.
func tighten(c net.Conn) net.Conn {
	if s, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_ = s.SetReadBuffer(narrowRoom)
		_ = s.SetWriteBuffer(narrowRoom)
	}
	return c
}

// No batch deadlocks, of whatever size: replies are read while requests are still to
// be written.
func TestBatchReadsWhileItWrites(t *testing.T) {
	mc := memcachedtest.Start(t, memcachedtest.Options{MemoryMiB: 512, Network: "unix"})
	path := narrow(t, mc)
	t.Run("a client that does not", func(t *testing.T) {
		c, err := net.Dial("unix", path)
		require.NoError(t, err)
		defer c.Close()
		tighten(c)
		request := fmt.Appendf(nil, "ms k %d O123456\r\n%s\r\n", narrowValue, make([]byte, narrowValue))
		for i := 0; ; i++ {
			require.Less(t, i, narrowSets, "there is room for all replies, so this proves nothing")
			_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second)) // how long proves nothing: it is for ever
			if _, err := c.Write(request); err != nil {
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				return
			}
		}
	})
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return tighten(c), nil
	}
	for name, cfg := range map[string]client.Config{
		"uring": {Engine: client.URing},
		"poll":  {Engine: client.Poll, DialContext: dialer},
	} {
		t.Run(name, func(t *testing.T) {
			if cfg.Engine == client.URing && uringMissing() != nil {
				t.Skipf("there is no io_uring here, so this half cannot be tested: %v", uringMissing())
			}
			cfg.OpTimeout = 20 * time.Second
			c := dial(t, &cfg, "unix:"+path)
			items := make([]client.Item, narrowSets)
			value := make([]byte, narrowValue)
			for i := range items {
				items[i] = client.Item{Key: fmt.Sprint("narrow-", i), Value: value, Flags: uint32(i)}
			}
			require.NoError(t, c.SetMulti(context.Background(), items))
			for i := 0; i < narrowSets; i += narrowSets / 100 {
				it, err := c.Get(patient(t), items[i].Key)
				require.NoError(t, err)
				require.EqualValues(t, i, it.Flags)
			}
			require.Zero(t, c.Counters().Losses)
		})
	}
}
