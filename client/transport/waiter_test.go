package transport

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newWaiter() *Waiter {
	w := new(Waiter)
	w.Init()
	return w
}

func TestWaiterSignalBeforePark(t *testing.T) {
	w := newWaiter()
	assert.False(t, w.Signal(), "nobody sleeps")
	assert.False(t, w.Park(0), "a caller must not sleep past its event")
	assert.True(t, w.Take())
	assert.False(t, w.Take(), "the event can be taken once")
}

func TestWaiterWokenBySignal(t *testing.T) {
	w := newWaiter()
	require.True(t, w.Park(0))
	assert.True(t, w.Signal())
	assert.False(t, w.Promote(), "an awake caller can't be promoted")
	assert.False(t, w.Unpark(), "the sleep was ended by Signal")
	assert.Equal(t, Outcome{}, w.Sleep(nil))
	assert.True(t, w.Take())
	assert.Empty(t, w.wake, "a stale token would end the next sleep")
}

func TestWaiterPromotedThenSignalled(t *testing.T) {
	w := newWaiter()
	require.True(t, w.Park(0))
	assert.True(t, w.Promote())
	assert.False(t, w.Promote())
	assert.False(t, w.Signal())
	assert.Equal(t, Outcome{Lead: true}, w.Sleep(nil))
	assert.True(t, w.Take(), "both outcomes hold")
}

func TestWaiterExpires(t *testing.T) {
	w := newWaiter()
	now := Now()
	assert.Zero(t, w.Expire(now), "it does not sleep")
	require.True(t, w.Park(now+int64(time.Hour)))
	assert.Equal(t, now+int64(time.Hour), w.Expire(now))
	require.True(t, w.Unpark())
	require.True(t, w.Park(now))
	assert.Equal(t, now, w.Expire(now))
	assert.Equal(t, Outcome{Expired: true}, w.Sleep(nil))
}

// A deadline that was read from an earlier wait must not end a later one early:
// the sleep ends, but its outcome doesn't say that the wait is late.
func TestWaiterExpiredForAnEarlierWait(t *testing.T) {
	w := newWaiter()
	require.True(t, w.Park(Now()+int64(time.Hour)))
	w.post(expired, parked) // Expire's second step, its first having seen an older deadline
	assert.Equal(t, Outcome{}, w.Sleep(nil))
}

func TestWaiterCanceled(t *testing.T) {
	w := newWaiter()
	done := make(chan struct{})
	close(done)
	require.True(t, w.Park(0))
	assert.Equal(t, Outcome{Canceled: true}, w.Sleep(done))
	assert.False(t, w.Promote(), "it does not sleep any more")
	assert.Empty(t, w.wake)
}

func TestNanos(t *testing.T) {
	assert.Zero(t, Nanos(time.Time{}), "the zero Time is never")
	assert.Positive(t, Nanos(time.Unix(1, 0)), "a time long past is not never")
	before := Now()
	d := Nanos(time.Now())
	assert.GreaterOrEqual(t, d, before)
	assert.LessOrEqual(t, d, Now())
}

// All parties race for one sleeper. However they interleave, every sleep ends,
// an event is never lost, and no token is left behind.
func TestWaiterRaces(t *testing.T) {
	const rounds = 1000
	w := newWaiter()
	var asleep, events sync.WaitGroup
	stop := make(chan struct{})
	signal := make(chan struct{}, 1)
	leads := 0
	asleep.Add(2)
	go func() { // promotes and expires without end
		defer asleep.Done()
		for {
			select {
			case <-stop:
				return
			default:
			}
			w.Promote()
			w.Expire(Now())
			runtime.Gosched()
		}
	}()
	go func() { // signals once per round
		defer asleep.Done()
		for range signal {
			w.Signal()
			events.Done()
		}
	}()
	for i := range rounds {
		events.Add(1)
		signal <- struct{}{}
		var done chan struct{}
		if i%3 == 0 {
			done = make(chan struct{})
			close(done)
		}
		for !w.Take() {
			deadline := int64(0)
			if i%2 == 0 {
				deadline = Now()
			}
			if w.Park(deadline) {
				if w.Sleep(done).Lead {
					leads++
				}
			}
		}
		events.Wait()
		require.Empty(t, w.wake)
		require.Zero(t, w.state.Load(), "round %d", i)
	}
	close(stop)
	close(signal)
	asleep.Wait()
	t.Logf("%d of %d rounds led", leads, rounds)
}

func TestNanosInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := Now()
		assert.Positive(t, before)
		assert.Equal(t, before+int64(time.Second), Nanos(time.Now().Add(time.Second)))
		time.Sleep(time.Second)
		assert.Equal(t, before+int64(time.Second), Now())
	})
}
