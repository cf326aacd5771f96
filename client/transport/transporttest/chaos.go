package transporttest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/memring/memring/client/transport"
)

var chaosCases = []testCase{
	{
		name: "Handover",
		means: "the role of driving was lost between a caller that left and one that slept, or a late or" +
			" cancelled caller got another's reply",
		run: func(e *env) {
			addr := e.serve(echoLines)
			links := []*link{e.dial(addr), e.dial(addr)}
			e.crowd(24, func(n int, rng *rand.Rand, w *transport.Waiter) {
				for i := range 400 {
					if !oneOfChaos(links[rng.IntN(2)], rng, w, fmt.Sprint(n, " ", i)) {
						return
					}
				}
			})
			w := newWaiter()
			for _, l := range links {
				l.echo(w, "in the end")
			}
		},
	},
}

// oneOfChaos makes a request that may give up at any moment. A waiter with a
// signal from a call that is over would show up as a wrong reply.
func oneOfChaos(l *link, rng *rand.Rand, w *transport.Waiter, line string) bool {
	c, err := l.send(w, line)
	if err != nil {
		l.env.Errorf("send: %v", err)
		return false
	}
	deadline := far()
	var done chan struct{}
	patience := time.Duration(rng.IntN(300)) * time.Microsecond
	switch rng.IntN(4) {
	case 0:
		deadline = time.Now().Add(patience)
	case 1:
		done = make(chan struct{})
		if patience < 100*time.Microsecond {
			close(done)
		} else {
			time.AfterFunc(patience, func() { close(done) })
		}
	}
	got, err := l.wait(c, deadline, done)
	switch {
	case err == nil:
		if got != line {
			l.env.Errorf("reply %q to %q", got, line)
			return false
		}
		return true
	case errors.Is(err, transport.ErrTimeout), errors.Is(err, transport.ErrCanceled):
		return true
	}
	l.env.Errorf("wait: %v", err)
	return false
}
