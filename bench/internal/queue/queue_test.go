package queue

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNobodyIsForgotten would hang if a wake-up were lost.
func TestNobodyIsForgotten(t *testing.T) {
	for name, open := range map[string]func() Queue{
		"herd":    func() Queue { return NewHerd() },
		"channel": func() Queue { return NewChannel() },
		"cond":    func() Queue { return NewCond() },
	} {
		t.Run(name, func(t *testing.T) {
			for _, callers := range []int{1, 2, 8, 64} {
				q := open()
				var all sync.WaitGroup
				for range callers {
					all.Go(func() {
						for range 20000 / callers {
							q.HandOver()
						}
					})
				}
				done := make(chan struct{})
				go func() { all.Wait(); close(done) }()
				select {
				case <-done:
				case <-time.After(time.Minute):
					require.Fail(t, "a caller was not woken", "%d callers", callers)
				}
				q.Close()
			}
		})
	}
}
