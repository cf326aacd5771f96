package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

const (
	limitedConns = 20
	limitedRoom  = 5 // of their buffers may be locked
)

// limitedReport is what the process under the limit found.
type limitedReport struct {
	Engine, Reason, Err string
	Conns               int64
	PinnedKiB           int
}

const limitedAddr = "MEMRING_TEST_LIMITED"

// Where RLIMIT_MEMLOCK has room for some connections' buffers and not for the
// others', all of them work, and Engine says what the matter is. The test runs
// itself again under the limit.
func TestMemlockInTheMiddle(t *testing.T) {
	if err := uringMissing(); err != nil {
		t.Skipf("there is no io_uring here: %v", err)
	}
	var addrs []string
	for range limitedConns {
		addrs = append(addrs, memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "tcp"}).Addr())
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemlockInTheMiddleChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), limitedAddr+"="+strings.Join(addrs, " "))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, out, ok := bytes.Cut(out, []byte("REPORT "))
	require.True(t, ok, "%s", out)
	out, _, _ = bytes.Cut(out, []byte("\n"))
	var got limitedReport
	require.NoError(t, json.Unmarshal(out, &got), "%s", out)
	t.Logf("%+v", got)
	require.Empty(t, got.Err)
	require.Equal(t, client.EngineURing, got.Engine)
	require.EqualValues(t, limitedConns, got.Conns)
	for _, words := range []string{"plain receives", "RLIMIT_MEMLOCK is 360 KiB", "each connection needs 64 KiB"} {
		require.Contains(t, got.Reason, words)
	}
	if os.Getuid() == 0 { // or else this user's other processes count as well
		require.Equal(t, limitedRoom*64, got.PinnedKiB)
	}
}

// TestMemlockInTheMiddleChild does nothing unless TestMemlockInTheMiddle has
// started it.
func TestMemlockInTheMiddleChild(t *testing.T) {
	addrs := strings.Fields(os.Getenv(limitedAddr))
	if len(addrs) == 0 {
		return
	}
	const room = 40<<10 + limitedRoom*64<<10 // the queues, and buffers
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: room, Max: room}))
	if os.Getuid() == 0 {
		// A user of whom there are no other processes: the limit counts theirs.
		user := 1<<30 + os.Getpid()
		require.NoError(t, syscall.Setgid(nobody))
		require.NoError(t, syscall.Setuid(user))
	}
	c := dial(t, &client.Config{Engine: client.URing, Rings: 1, ConnsPerServer: 1, OpTimeout: -1, DirectReceive: -1}, addrs...)
	rep := limitedReport{}
	if err := useAll(t, c, len(addrs)); err != nil {
		rep.Err = err.Error()
	}
	name, reason := c.Engine()
	rep.Engine, rep.Reason = name, fmt.Sprint(reason)
	rep.Conns, rep.PinnedKiB = c.Counters().Conns, pinnedKiB(t)
	out, err := json.Marshal(rep)
	require.NoError(t, err)
	fmt.Printf("REPORT %s\n", out)
}

// useAll has callers write and read values of several windows on all of the
// servers, at the same time, and by multi-gets.
func useAll(t *testing.T, c *client.Client, servers int) error {
	ctx := patient(t)
	keys := keysOf("limited-%d", 10*servers) // each server gets some
	value := func(k string) string { return strings.Repeat(k+" ", 1+len(k)*1000) }
	errs := make(chan error, len(keys))
	var all sync.WaitGroup
	for _, k := range keys {
		all.Go(func() {
			err := c.Set(ctx, client.Item{Key: k, Value: []byte(value(k))})
			for range 3 {
				var it client.Item
				if err == nil {
					it, err = c.Get(ctx, k)
				}
				if err == nil && string(it.Value) != value(k) {
					err = fmt.Errorf("%s has another value", k)
				}
			}
			errs <- err
		})
	}
	all.Wait()
	for range keys {
		if err := <-errs; err != nil {
			return err
		}
	}
	got := 0
	for it, err := range c.GetMulti(ctx, keys) {
		if err != nil {
			return err
		}
		if string(it.Value) != value(it.Key) {
			return fmt.Errorf("%s has another value", it.Key)
		}
		got++
	}
	if got != len(keys) {
		return fmt.Errorf("%d of %d values came", got, len(keys))
	}
	return nil
}
