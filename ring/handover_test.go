package ring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handovers are the situations that the model is explored in.
// The small ones come first, so that a mutant is caught soon.
var handovers = []mConfig{
	{name: "nobody waits any more", callers: 1, replies: 1, deadline: 1, watched: true},
	{name: "two callers without replies", callers: 2, deadline: 3, cancel: 1},
	{name: "Close with two who wait for nothing", callers: 2, closes: true},
	{name: "Close with one who waits for a reply", callers: 2, replies: 1, deadline: 2, closes: true},
	{name: "Wake from outside", callers: 2, replies: 2, deadline: 2, wake: true},
	{name: "two callers, late and cancelled", callers: 2, replies: 3, deadline: 1, cancel: 2},
	{name: "two callers, the keeper watches", callers: 2, replies: 3, deadline: 1, watched: true},
	{name: "three callers, three replies", callers: 3, replies: 7},
	{name: "a queue of one", callers: 2, replies: 3, deadline: 2, watched: true, cqLen: 1},
	{name: "three callers, one late", callers: 3, replies: 7, deadline: 2},
}

func (c mConfig) with(mutant string) mConfig {
	c.mutant = mutant
	if c.cqLen == 0 {
		c.cqLen = mCallers + 1
	}
	return c
}

// TestHandover shows that no order of steps loses a wake-up.
func TestHandover(t *testing.T) {
	for _, c := range handovers {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.callers == 3 {
				t.Skip("takes some seconds")
			}
			begun := time.Now()
			c := c.with("")
			states, err := c.explore()
			require.NoError(t, err)
			t.Logf("states=%d seconds=%.1f", states, time.Since(begun).Seconds())
		})
	}
}

// TestHandoverCanFail shows that the model would tell: without any one of these
// precautions there is an order of steps that goes wrong.
func TestHandoverCanFail(t *testing.T) {
	const (
		lost   = "waits for ever"
		unseen = "nobody looks"
		kept   = "role is lost"
	)
	for _, m := range []struct{ mutant, want string }{
		{"no look for sleepers after leaving", lost},
		{"no look after park", lost},
		{"add before park", lost},
		{"dropAwake looks first", lost},
		{"Wake does not nudge", lost},
		{"Close wakes nobody", lost},
		{"no look for the end after park", lost},
		{"late leader keeps the role", kept},
		{"no look at the queue after leaving", unseen},
		{"armed after the look", unseen},
		{"overflow is not looked for", unseen},
	} {
		var found error
		for _, c := range handovers {
			if c = c.with(m.mutant); found == nil {
				_, found = c.explore()
			}
		}
		if assert.ErrorContains(t, found, m.want, m.mutant) {
			t.Logf("%s: %.40s", m.mutant, found)
		}
	}
}
