package ring

import (
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/memring/memring/client/transport"
)

// What happens beside a driver that sleeps in the kernel, and just before one
// writes. There is no keeper here to put right, some milliseconds later, what
// was forgotten; and servers are mute, so that no reply wakes the driver.

// mute adopts a connection whose server takes everything and says nothing.
func mute(t *testing.T, e *Engine, k *fakeKernel, h transport.Handler) (*conn, *fakeSock) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, unix.SetNonblock(pair[1], true))
	f := &fakeSock{k: k, fd: int32(pair[0]), other: os.NewFile(uintptr(pair[1]), "mute"), room: 1 << 20, kick: make(chan struct{}, 1)}
	k.mu.Lock()
	k.socks[f.fd] = f
	k.all = append(k.all, f)
	k.mu.Unlock()
	go f.watch()
	c, err := e.adopt(pair[0], h)
	require.NoError(t, err)
	t.Cleanup(func() { // Close needs somebody who drives, and nobody would end a wait
		assert.NoError(t, c.Close())
		for c.isOpen() {
			if e.driving.CompareAndSwap(false, true) {
				e.reap()
				e.turn(waitNot, nil, 0)
				e.leave()
			}
			runtime.Gosched()
		}
	})
	return c, f
}

func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.ended
}

func (f *fakeSock) heard() string {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	return string(f.outbox)
}

// ender signals its waiter when the connection ends.
type ender struct{ w *transport.Waiter }

func (ender) Received(window []byte) (int, []byte, error) { return len(window), nil, nil }
func (ender) Landed(int) ([]byte, error)                  { return nil, nil }
func (h ender) Closed(error)                              { h.w.Signal() }

func newWaiter() *transport.Waiter {
	w := new(transport.Waiter)
	w.Init()
	return w
}

// asleep has a driver sleep in the kernel until the test ends.
func asleep(t *testing.T, e *Engine) {
	e.pace.Store(int32(quick))
	w := newWaiter()
	done := make(chan error, 1)
	go func() { done <- e.Wait(w, nil, time.Time{}, nil) }()
	soon(t, "the driver sleeps", func() bool { return sleeps(e) })
	t.Cleanup(func() {
		e.Wake(w)
		assert.NoError(t, <-done)
	})
}

func sleeps(e *Engine) bool {
	k := e.k.(interface{ isWaiting() bool })
	return e.inKernel.Load() && k.isWaiting()
}

func (k *fakeKernel) isWaiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.waiting
}

func soon(t *testing.T, what string, cond func() bool) {
	t.Helper()
	require.Eventually(t, cond, 10*time.Second, 100*time.Microsecond, what)
}

// waitFor has a caller wait until the test ends.
func waitFor(t *testing.T, e *Engine) {
	w := newWaiter()
	done := make(chan error, 1)
	go func() { done <- e.Wait(w, nil, time.Time{}, nil) }()
	t.Cleanup(func() {
		e.Wake(w)
		assert.NoError(t, <-done)
	})
}

// A request that is queued while the driver sleeps is sent by its own caller.
func TestSendBesideSleepingDriver(t *testing.T) {
	e := stoppable(t)
	c, f := mute(t, e, e.k.(*fakeKernel), ender{newWaiter()})
	asleep(t, e)
	_, err := c.Send([]byte("request\n"), nil, nil, nil)
	require.NoError(t, err)
	waitFor(t, e)
	soon(t, "the request is sent", func() bool { return f.heard() == "request\n" })
}

// What goes out in more pieces than one send takes does not wait for a reply to
// the first of them.
func TestSendOfManyPieces(t *testing.T) {
	e := stoppable(t)
	c, f := mute(t, e, e.k.(*fakeKernel), ender{newWaiter()})
	loans, want := make([]transport.Loan, 2*maxPieces), ""
	for i := range loans {
		_, err := c.Send([]byte("head "), []byte("body "), nil, &loans[i])
		require.NoError(t, err)
		want += "head body "
	}
	e.pace.Store(int32(quick))
	waitFor(t, e)
	soon(t, "all is sent", func() bool { return f.heard() == want })
}

// slowKernel keeps the first that submits in the system call, when all it has
// submitted is done.
type slowKernel struct {
	*fakeKernel
	once          sync.Once
	inside, leave chan struct{}
}

func (k *slowKernel) submit(n uint32) (uint32, error) {
	n, err := k.fakeKernel.submit(n)
	k.once.Do(func() {
		close(k.inside)
		<-k.leave
	})
	return n, err
}

// A caller that finds another on its way into the kernel leaves its request to
// that one, which looks for it when it is back. The driver has been awake and
// sleeps again by then.
func TestSendBesideSubmitter(t *testing.T) {
	e := stoppable(t)
	k := e.k.(*fakeKernel)
	c1, f1 := mute(t, e, k, ender{newWaiter()})
	c2, f2 := mute(t, e, k, ender{newWaiter()})
	slow := &slowKernel{fakeKernel: k, inside: make(chan struct{}), leave: make(chan struct{})}
	e.k = slow
	asleep(t, e)
	turns := e.turns.Load()
	_, err := c1.Send([]byte("first\n"), nil, nil, nil)
	require.NoError(t, err)
	waitFor(t, e)
	<-slow.inside
	require.Equal(t, "first\n", f1.heard())
	// Its completion has woken the driver.
	soon(t, "the driver sleeps again", func() bool { return e.turns.Load() > turns && sleeps(e) })
	_, err = c2.Send([]byte("second\n"), nil, nil, nil)
	require.NoError(t, err)
	waitFor(t, e)
	soon(t, "the second caller relies on the first", e.herd.Asleep)
	close(slow.leave)
	soon(t, "the second request is sent", func() bool { return f2.heard() == "second\n" })
}

// A driver looks at what has completed before it writes: a server's FIN that
// lies in the queue keeps the next request out of the socket.
func TestEndIsSeenBeforeTheNextRequest(t *testing.T) {
	e := stoppable(t)
	k := e.k.(*fakeKernel)
	w := newWaiter()
	c, f := mute(t, e, k, ender{w})
	k.mu.Lock()
	f.eof = true
	f.progress()
	k.mu.Unlock()
	queued, err := c.Send([]byte("too late\n"), nil, nil, nil)
	require.NoError(t, err)
	require.NoError(t, e.Wait(w, nil, time.Now().Add(10*time.Second), nil))
	require.Empty(t, f.heard())
	require.True(t, c.Retract(queued, 0), "and it can be sent elsewhere")
}

// stingyKernel has no memory for what comes while the driver sleeps.
type stingyKernel struct {
	*fakeKernel
	refusals atomic.Int32 // to come
}

func (k *stingyKernel) submit(n uint32) (uint32, error) {
	if n > 0 && k.isWaiting() && k.refusals.Add(-1) >= 0 {
		return enterResult(0, unix.EAGAIN)
	}
	return k.fakeKernel.submit(n)
}

// A driver that nobody can wake, because the kernel refuses the NOP, is tried to
// be woken at every tick until it takes one. So it oversleeps its deadline, but
// not for ever, although nothing else ever completes.
func TestRefusedNudgeIsRepeated(t *testing.T) {
	e, k, err := newFakeEngine(rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	*k.q = *newFakeQueue(8, 8) // soon full of NOPs
	k.odds, k.calm = fakeOdds{}, true
	stingy := &stingyKernel{fakeKernel: k}
	e.k = stingy
	e.pace.Store(int32(quick))
	go e.keep()
	for _, refusals := range []int32{1, 3, 30} {
		stingy.refusals.Store(refusals)
		done := make(chan error)
		go func() { done <- e.Wait(newWaiter(), nil, time.Now().Add(40*time.Millisecond), nil) }()
		select {
		case err := <-done:
			require.ErrorIs(t, err, transport.ErrTimeout)
		case <-time.After(10 * time.Second):
			t.Fatalf("the driver sleeps on, %d refusals to come", stingy.refusals.Load())
		}
		require.LessOrEqual(t, stingy.refusals.Load(), int32(0), "it was woken by nothing")
		e.pace.Store(int32(quick)) // being roused, it would wait elsewhere next time
	}
	require.NoError(t, e.Close())
	require.NoError(t, unix.Close(k.efd))
}
