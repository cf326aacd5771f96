package memcachedtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// goTest stands in the examples for the go command, which alone can make a
// testing.T: TestExampleStart has it run what it is given.
var goTest = func(name string, test func(*testing.T)) {}

func TestExampleStart(t *testing.T) {
	defer func(f func(string, func(*testing.T))) { goTest = f }(goTest)
	ran := false
	goTest = func(name string, test func(*testing.T)) { ran = t.Run(name, test) }
	ExampleStart()
	if !ran {
		t.Error("the example's test has not run")
	}
}

// A test with a memcached of its own, which ends with the test.
func ExampleStart() {
	TestGet := func(t *testing.T) {
		mc := memcachedtest.Start(t, memcachedtest.Options{})
		c, err := client.New([]string{mc.Addr()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.Set(ctx, client.Item{Key: "k", Value: []byte("v")}); err != nil {
			t.Fatal(err)
		}
		if it, err := c.Get(ctx, "k"); err != nil || string(it.Value) != "v" {
			t.Errorf("got %q, %v", it.Value, err)
		}
	}
	goTest("TestGet", TestGet)
	// Output:
}
