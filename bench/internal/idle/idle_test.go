package idle

import (
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/standin"
	"github.com/memring/memring/client"
)

// TestMeasure runs against the stand-in. Where io_uring is refused, that has to be said.
func TestMeasure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	go func() { _ = standin.NewServer(standin.Options{Size: bodySize}).Serve(l) }() // ends with the listener
	for _, engine := range []client.EngineKind{client.URing, client.Poll} {
		const conns = 20
		c, err := Open(engine, path, conns)
		if engine == client.URing && err != nil {
			require.ErrorContains(t, err, "io_uring cannot be used")
			continue
		}
		require.NoError(t, err)
		c.rest = time.Millisecond
		f, err := c.Measure()
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Positive(t, f["heap_B_per_conn"])
		if runtime.GOOS == "linux" {
			require.GreaterOrEqual(t, f["fds_per_conn"], 1.0)
			require.Positive(t, f["resident_MiB"])
		}
	}
}

func TestFigures(t *testing.T) {
	f := figures(meters{objects: 100, fds: 5, resident: 1 << 20}, meters{objects: 400, fds: 8, resident: 4 << 20}, 4)
	require.InDelta(t, 100, f["heap_B_per_conn"], 0, "the first connection was there before")
	require.InDelta(t, 1, f["fds_per_conn"], 0)
	require.InDelta(t, 1024, f["resident_KiB_per_conn"], 0)
	require.InDelta(t, 4, f["resident_MiB"], 0)
}
