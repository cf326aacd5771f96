package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A lane goes on elsewhere once it is known of all that was in flight whether it was
// sent: what was not comes first.
func TestLaneWaitsForItsConnectionsEnd(t *testing.T) {
	var f fanout
	l := &lane{pool: new(pool), c: new(conn)}
	l.c.down.Store(true)
	l.push(part{o: new(op)})
	require.False(t, f.connect(t.Context(), l))
	require.NotNil(t, l.c)
	require.Nil(t, f.cancel, "it dials nothing")
}
