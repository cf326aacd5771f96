package memcachedtest

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if childOfTest() {
		return
	}
	goleak.VerifyTestMain(m)
}
