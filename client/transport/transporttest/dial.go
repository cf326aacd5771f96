package transporttest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"
)

// A dead Handler is one of a connection that must not come to be.
type dead struct{ e *env }

func (d dead) Received([]byte) (int, []byte, error) {
	d.e.Errorf("Received after a failed dial")
	return 0, nil, nil
}

func (d dead) Landed(int) ([]byte, error) { return nil, nil }

func (d dead) Closed(error) { d.e.Errorf("Closed after a failed dial") }

var dialCases = []testCase{
	{
		name:  "DialRefused",
		means: "a dial to nobody hangs, succeeds or calls the handler",
		run: func(e *env) {
			l := e.opts.Listen(e.T, e.network)
			addr := l.Addr().String()
			require.NoError(e, l.Close())
			c, err := e.engine.Dial(context.Background(), e.network, addr, dead{e})
			require.Error(e, err)
			require.Nil(e, c)
		},
	},
	{
		name:  "DialCanceled",
		means: "a dial ignores its context, or hides what ended it",
		run: func(e *env) {
			addr := e.serve(echoLines)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			c, err := e.engine.Dial(ctx, e.network, addr, dead{e})
			require.ErrorIs(e, err, context.Canceled)
			require.Nil(e, c)
			ctx, cancel = context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
			defer cancel()
			c, err = e.engine.Dial(ctx, e.network, addr, dead{e})
			require.ErrorIs(e, err, context.DeadlineExceeded)
			require.Nil(e, c)
		},
	},
	{
		name:  "DialContextEnds",
		means: "the context of a dial goes on to bound the connection",
		run: func(e *env) {
			addr := e.serve(echoLines)
			ctx, cancel := context.WithCancel(context.Background())
			l := &link{env: e, closed: make(chan struct{}), moved: make(chan struct{}, 1)}
			var err error
			l.conn, err = e.engine.Dial(ctx, e.network, addr, l)
			require.NoError(e, err)
			l.on = append(l.on, l.conn)
			cancel()
			require.True(e, l.echo(newWaiter(), "alive"))
		},
	},
}
