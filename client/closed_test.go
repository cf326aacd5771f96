package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// Whatever else a connection was about to be closed for, a call that Close
// interrupts returns ErrClosed.
func TestCloseWinsOverOtherCauses(t *testing.T) {
	cl, err := New([]string{"127.0.0.1:1"}, &Config{Engine: Poll})
	require.NoError(t, err)
	c := &conn{p: cl.servers[0].pools[0]}
	o := cl.engines[0].ops.Get().(*op)
	o.begin(verbGet, "k")
	o.c = c
	c.in = []*op{o}
	c.cause.Store(&ownCause{closedByServer, transport.ErrEOF})
	require.NoError(t, cl.Close())
	c.Closed(transport.ErrClosed)
	require.ErrorIs(t, o.err, ErrClosed)
	require.NotErrorIs(t, o.err, ErrConnLost)
}
