package transporttest_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(t *testing.T, opts transporttest.Options) {
	// Each case has a network of its own; newEngine is called before Listen.
	var network *transporttest.Network
	opts.Networks = []string{"memory"}
	opts.Listen = func(tb testing.TB, _ string) net.Listener {
		l, err := network.Listen("")
		require.NoError(tb, err)
		return l
	}
	transporttest.Run(t, func(testing.TB) transport.Engine {
		fake := transporttest.NewFake()
		network = fake.Network
		return fake
	}, opts)
}

func TestFake(t *testing.T) { run(t, transporttest.Options{ZeroAlloc: true}) }

func TestFakeInBubble(t *testing.T) { run(t, transporttest.Options{Bubble: true, Conns: 200}) }
