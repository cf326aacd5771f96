package transporttest_test

import (
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/transporttest"
	"github.com/memring/memring/fallback"
)

// goTest stands in the examples for the go command, which alone can make a
// testing.T: TestExamples has it run what it is given.
var goTest = func(name string, test func(*testing.T)) {}

func TestExamples(t *testing.T) {
	defer func(f func(string, func(*testing.T))) { goTest = f }(goTest)
	ran := 0
	goTest = func(name string, test func(*testing.T)) {
		ran++
		t.Run(name, test)
	}
	ExampleOptions()
	ExampleSeeds()
	if ran != 2 {
		t.Errorf("%d examples have given a test, not 2", ran)
	}
}

// The suite on an engine of one's own. This one has no sockets, so it says which
// network to run on and how a server listens there; for one that dials, the zero
// Options do.
func ExampleOptions() {
	// In a file of the engine's package:
	TestConformance := func(t *testing.T) {
		var network *transporttest.Network
		newEngine := func(testing.TB) transport.Engine { // called for each case
			network = transporttest.NewNetwork()
			return fallback.New(&fallback.Config{DialContext: network.DialContext})
		}
		transporttest.Run(t, newEngine, transporttest.Options{
			Networks: []string{"memory"},
			Listen: func(tb testing.TB, _ string) net.Listener {
				l, err := network.Listen("")
				if err != nil {
					tb.Fatal(err)
				}
				return l
			},
			Conns: 100,
		})
	}
	goTest("TestConformance", TestConformance)
	// Output:
}

// A test that draws what it does from a number. SEED=5 runs a failure again;
// FOR=1m looks for others.
func ExampleSeeds() {
	TestSort := func(t *testing.T) {
		seeds := transporttest.NewSeeds(t, 100)
		defer seeds.Watch(t, func() string { return "test=sort" })()
		for seed := range seeds.Each() {
			list := rand.New(rand.NewPCG(seed, 0)).Perm(20)
			if slices.Sort(list); !slices.IsSorted(list) {
				seeds.Stop()
				t.Errorf("SEED=%d go test -run %s fails", seed, t.Name())
			}
		}
	}
	goTest("TestSort", TestSort)
	// Output:
}
