package ring_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/transporttest"
	"github.com/memring/memring/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEngine makes an engine, or skips where there is no io_uring at all.
func newEngine(tb testing.TB) transport.Engine {
	e, err := ring.New()
	if err != nil {
		tb.Skipf("there is no io_uring here, so its engine cannot be tested: %v", err)
	}
	return e
}

func TestConformance(t *testing.T) {
	transporttest.Run(t, newEngine, transporttest.Options{ZeroAlloc: true})
}

func TestCloseIsIdempotent(t *testing.T) {
	e := newEngine(t)
	for range 3 {
		require.NoError(t, e.Close())
	}
}
