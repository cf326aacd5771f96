package ring

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// TestCanceled: the kernel cancels what a thread has submitted when that thread
// exits, which is no reason to give the connection up.
func TestCanceled(t *testing.T) {
	e := new(Engine)
	c := &conn{e: e, fd: -1, armed: true, sending: true}
	c.flying.Append([]byte("get k\r\n"), nil, nil, nil)
	c.recvDone(-int32(unix.ECANCELED))
	assert.NoError(t, c.dead)
	assert.False(t, c.armed)
	assert.Contains(t, e.resting, c, "the receive is not armed again")

	c.armed = true
	c.sendDone(-int32(unix.ECANCELED))
	assert.NoError(t, c.dead)
	assert.False(t, c.sending)
	assert.Equal(t, "get k\r\n", string(c.flying.Next()))
	assert.Contains(t, e.dirty, c, "the send is not tried again")
}

// TestFindBesideDriver: what find reads while the entry becomes another
// completion's is not taken for what it was.
func TestFindBesideDriver(t *testing.T) {
	q := newFakeQueue(1, 1)
	var stop atomic.Bool
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for !stop.Load() {
			q.postCQE(cqeView{userData: 1, res: 1})
			q.pop()
			q.postCQE(cqeView{userData: 2, res: 2})
			q.pop()
		}
	}()
	defer func() {
		stop.Store(true)
		<-gone
	}()
	found := 0
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		for range 1000 {
			if res, ok := q.find(1, 0); ok {
				found++
				if res != 1 {
					t.Fatalf("find returns the result of another completion: %d", res)
				}
			}
		}
	}
	t.Logf("found %d times", found)
}
