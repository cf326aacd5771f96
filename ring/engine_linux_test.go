package ring_test

import (
	"testing"
	"time"

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

// Close ends the waits of callers that nobody will ever signal, whether they
// drive or sleep.
func TestCloseEndsIdleWaits(t *testing.T) {
	for range 20 {
		e := newEngine(t)
		errs := make(chan error)
		for i := range 5 {
			go func() {
				w := new(transport.Waiter)
				w.Init()
				var deadline time.Time
				if i%2 == 0 {
					deadline = time.Now().Add(time.Hour)
				}
				errs <- e.Wait(w, nil, deadline, nil)
			}()
		}
		time.Sleep(time.Millisecond) // some wait by now
		require.NoError(t, e.Close())
		for range 5 {
			require.ErrorIs(t, <-errs, transport.ErrClosed)
		}
	}
}
