package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// loads makes a pool with connections of these loads, of which usual are not
// spare; -1 is none, and below that is one in debt.
func loads(usual int, list ...int) *pool {
	p := &pool{usual: usual, slots: make([]atomic.Pointer[conn], len(list))}
	for i, n := range list {
		if n == -1 {
			continue
		}
		c := new(conn)
		if n < 0 {
			n = -n
			c.debt.replies.Store(1)
		}
		c.load.Store(int32(n))
		p.slots[i].Store(c)
	}
	return p
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		name     string
		pool     *pool
		trouble  bool
		want     int // slot; -1 is none
		more     bool
		roomLeft bool
	}{
		{"none", loads(2, -1, -1, -1), false, -1, true, true},
		{"share one", loads(2, 63, -1, -1), false, 0, false, true},
		{"the first is busy", loads(2, 64, -1, -1), false, 0, true, true},
		{"the second is not", loads(2, 64, 2, -1), false, 1, false, false},
		{"both are busy, a spare one is not for that", loads(2, 80, 70, 0), false, 1, true, false},
		{"the first has debt", loads(2, -3, 50, 0), false, 1, false, false},
		{"all have debt but a spare one", loads(2, -3, -2, 70), false, 2, true, false},
		{"all have debt", loads(2, -3, -2, -4), false, 1, true, false},
		{"trouble: spread", loads(2, 3, 1, 2), true, 1, true, false},
		{"trouble: open more", loads(2, 3, 1, -1), true, 1, true, true},
		{"trouble: one is free", loads(2, 3, -2, 0), true, 2, false, false},
		{"trouble: debt is worse than any load", loads(2, 300, -2, -1), true, 0, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.trouble {
				c.pool.trouble()
			}
			got, more := c.pool.pick()
			at := -1
			for i := range c.pool.slots {
				if got != nil && c.pool.slots[i].Load() == got {
					at = i
				}
			}
			assert.Equal(t, c.want, at)
			assert.Equal(t, c.more, more, "more")
			assert.Equal(t, c.roomLeft, c.pool.hasRoom(), "room")
		})
	}
}

func TestTroubleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loads(1, 5, 0)
		assert.False(t, p.troubled())
		p.trouble()
		time.Sleep(troubleTime - time.Nanosecond)
		assert.True(t, p.troubled())
		time.Sleep(time.Nanosecond)
		assert.False(t, p.troubled())
		assert.Zero(t, p.troubleEnds.Load(), "the clock is looked at no more")
	})
}

// A call that times out is trouble; one that was cancelled, or was not even sent,
// says nothing of the server.
func TestTimeoutsAreTrouble(t *testing.T) {
	p := loads(1, 0)
	p.gaveUp(NotSent, ErrTimeout)
	p.gaveUp(Unknown, context.Canceled)
	assert.False(t, p.troubled())
	p.gaveUp(Unknown, fmt.Errorf("%w: %w", ErrTimeout, errors.New("cause")))
	assert.True(t, p.troubled())
}

// A batch leaves the first connection to lone requests, if there is another.
func TestPickAside(t *testing.T) {
	for _, c := range []struct {
		name    string
		pool    *pool
		trouble bool
		want    int // slot; -1 is none
		more    bool
		better  bool // than the first
	}{
		{"none", loads(2, -1, -1, -1), false, -1, true, false},
		{"only the first", loads(2, 5, -1, -1), false, 0, true, false},
		{"only one allowed", loads(1, 5, 0), false, 0, true, false},
		{"the second, however busy", loads(2, 0, 100, -1), false, 1, false, true},
		{"the second has debt", loads(2, 7, -3, -1), false, 0, true, false},
		{"the least busy but the first", loads(4, 0, 100, 90, 95, 0), false, 2, false, true},
		{"trouble", loads(3, 0, 90, 95), true, 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.trouble {
				c.pool.trouble()
			}
			got, more := c.pool.pickAside()
			if c.want < 0 {
				assert.Nil(t, got)
			} else {
				assert.Same(t, c.pool.slots[c.want].Load(), got)
			}
			assert.Equal(t, c.more, more)
			assert.Equal(t, c.better, c.pool.slots[0].Load() != nil && c.pool.better(c.pool.slots[0].Load()))
		})
	}
}
