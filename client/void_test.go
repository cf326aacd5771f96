package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestVoidIsAwaited: whoever drives while a request is being retracted waits
// until that is decided.
func TestVoidIsAwaited(t *testing.T) {
	c, o := new(conn), new(op)
	o.void.Store(voiding)
	c.mu.Lock()
	void := make(chan bool, 1)
	go func() { void <- c.isVoid(o) }()
	select {
	case <-void:
		t.Error("it has not been decided yet")
		void <- true
	case <-time.After(20 * time.Millisecond):
	}
	o.void.Store(voided)
	c.mu.Unlock()
	require.True(t, <-void)
}
