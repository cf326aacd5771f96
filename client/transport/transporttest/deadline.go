package transporttest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// waitFunc is how a case's caller gives up: by a deadline, or by done.
type waitFunc func(l *link, c *call) error

func byDeadline(l *link, c *call) error {
	deadline := soon()
	_, err := l.wait(c, deadline, nil)
	if now := time.Now(); err != nil && now.Before(deadline) {
		l.env.Errorf("%v %v before the deadline", err, deadline.Sub(now))
	}
	return err
}

func byDone(l *link, c *call) error {
	done := make(chan struct{})
	defer time.AfterFunc(20*time.Millisecond, func() { close(done) }).Stop()
	_, err := l.wait(c, far(), done)
	return err
}

var deadlineCases = []testCase{
	{
		name:  "DeadlineAlone",
		means: "a lone caller, which drives, does not see its deadline; or its connection is broken by that",
		run:   func(e *env) { giveUpAlone(e, byDeadline, transport.ErrTimeout) },
	},
	{
		name:  "CancelAlone",
		means: "a lone caller, which drives, does not see that it was cancelled; or its connection is broken by that",
		run:   func(e *env) { giveUpAlone(e, byDone, transport.ErrCanceled) },
	},
	{
		name:  "DeadlineParked",
		means: "a caller that sleeps while another drives does not see its deadline, or disturbs the other",
		run:   func(e *env) { giveUpSecond(e, byDeadline, transport.ErrTimeout) },
	},
	{
		name:  "CancelParked",
		means: "a caller that sleeps while another drives does not see that it was cancelled, or disturbs the other",
		run:   func(e *env) { giveUpSecond(e, byDone, transport.ErrCanceled) },
	},
	{
		name:  "DeadlineOfDriver",
		means: "a caller that gives up while it drives leaves nobody to drive for those that sleep",
		run:   func(e *env) { giveUpFirst(e, byDeadline, transport.ErrTimeout) },
	},
	{
		name:  "CancelOfDriver",
		means: "a cancelled caller leaves nobody to drive for those that sleep",
		run:   func(e *env) { giveUpFirst(e, byDone, transport.ErrCanceled) },
	},
	{
		name:  "SignalWins",
		means: "a reply that has come is reported as a timeout",
		run: func(e *env) {
			l := e.dial(e.serve(echoLines))
			w := newWaiter()
			done := make(chan struct{})
			close(done)
			past := time.Now().Add(-time.Second)
			for range 20 {
				w.Signal()
				require.NoError(e, e.engine.Wait(w, l.on, past, nil))
				w.Signal()
				require.NoError(e, e.engine.Wait(w, l.on, far(), done))
				w.Signal()
				require.NoError(e, e.engine.Wait(w, l.on, past, done))
				require.ErrorIs(e, e.engine.Wait(w, l.on, past, nil), transport.ErrTimeout, "a signal was taken twice")
				require.ErrorIs(e, e.engine.Wait(w, l.on, far(), done), transport.ErrCanceled)
			}
			require.True(e, l.echo(w, "still in sync"))
		},
	},
	{
		name:  "DeadlinesMixed",
		means: "of many callers with different limits some are not woken, or the connection gets out of sync",
		run: func(e *env) {
			addr, accepted := e.puppets()
			l := e.dial(addr)
			p := <-accepted
			const n = 100
			calls := make([]*call, n)
			for i := range calls {
				var err error
				calls[i], err = l.send(newWaiter(), fmt.Sprint("request ", i))
				require.NoError(e, err)
			}
			var late, all sync.WaitGroup
			for i, c := range calls {
				if i%5 == 4 {
					all.Go(func() {
						got, err := l.wait(c, far(), nil)
						if err != nil || got != fmt.Sprint("reply ", i) {
							e.Errorf("caller %d: %q, %v", i, got, err)
						}
					})
					continue
				}
				late.Go(func() {
					var done chan struct{}
					want := transport.ErrTimeout
					deadline := time.Now().Add(time.Duration(i*7%31) * time.Millisecond)
					if i%5 == 3 {
						done = make(chan struct{})
						time.AfterFunc(time.Until(deadline), func() { close(done) })
						deadline = far()
						want = transport.ErrCanceled
					}
					if _, err := l.wait(c, deadline, done); !errors.Is(err, want) {
						e.Errorf("caller %d: %v, want %v", i, err, want)
					}
				})
			}
			late.Wait()
			for i := range n {
				p.heard(fmt.Sprint("request ", i))
				p.say(fmt.Sprintf("reply %d\n", i))
			}
			all.Wait()
		},
	},
}

// inSync checks that replies still reach those that they are for.
func inSync(e *env, l *link, p *puppet) {
	c, err := l.send(newWaiter(), "in sync?")
	require.NoError(e, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		p.heard("in sync?")
		p.say("yes\n")
	})
	got, err := l.wait(c, far(), nil)
	wg.Wait()
	require.NoError(e, err)
	require.Equal(e, "yes", got)
}

func giveUpAlone(e *env, wait waitFunc, want error) {
	addr, accepted := e.puppets()
	l := e.dial(addr)
	p := <-accepted
	for range 5 {
		c, err := l.send(newWaiter(), "one")
		require.NoError(e, err)
		require.ErrorIs(e, wait(l, c), want)
		p.heard("one")
		p.say("late reply\n")
		inSync(e, l, p)
	}
}

func giveUpSecond(e *env, wait waitFunc, want error) {
	addr, accepted := e.puppets()
	l := e.dial(addr)
	p := <-accepted
	for range 5 {
		c1, err := l.send(newWaiter(), "one")
		require.NoError(e, err)
		var wg sync.WaitGroup
		wg.Go(func() {
			if got, err := l.wait(c1, far(), nil); err != nil || got != "first" {
				e.Errorf("the other caller got %q, %v", got, err)
			}
		})
		p.heard("one") // so the first caller is in Wait
		c2, err := l.send(newWaiter(), "two")
		require.NoError(e, err)
		require.ErrorIs(e, wait(l, c2), want)
		p.heard("two")
		p.say("first\nlate reply\n")
		wg.Wait()
		inSync(e, l, p)
	}
}

func giveUpFirst(e *env, wait waitFunc, want error) {
	addr, accepted := e.puppets()
	l := e.dial(addr)
	p := <-accepted
	for range 5 {
		c1, err := l.send(newWaiter(), "one")
		require.NoError(e, err)
		first := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(first)
			if err := wait(l, c1); !errors.Is(err, want) {
				e.Errorf("got %v, want %v", err, want)
			}
		})
		p.heard("one")
		for i := range 3 {
			c, err := l.send(newWaiter(), "more")
			require.NoError(e, err)
			wg.Go(func() {
				if got, err := l.wait(c, far(), nil); err != nil || got != fmt.Sprint("reply ", i) {
					e.Errorf("a caller that slept got %q, %v", got, err)
				}
			})
			p.heard("more")
		}
		<-first
		p.say("late reply\n")
		for i := range 3 {
			p.say(fmt.Sprintf("reply %d\n", i))
		}
		wg.Wait()
		inSync(e, l, p)
	}
}
