package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry that was refused and is carried out after all has no error.
func TestLastResultCounts(t *testing.T) {
	r := results{op: "batch", n: 2}
	r.set(0, nil)
	require.NoError(t, r.err())
	r.fail(verbSet, nil, []int{0, 1}, ErrUnsupported, NotSent)
	r.set(0, nil)
	require.Equal(t, "memring: batch: 1 of 2 failed: 1 × set: not supported by the server (not sent)", r.err().Error())
	r.set(1, nil)
	require.NoError(t, r.err())
}

// A fanout that has had many values at once keeps no room for them for ever.
func TestFanoutKeepsLittle(t *testing.T) {
	cl, err := New([]string{"127.0.0.1:1"}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, cl.Close()) }()
	for _, n := range []int{keptEntries, keptEntries + 1} {
		f := cl.fanout(nil)
		f.buf = make([]Lease, 0, n)
		f.end()
		require.Equal(t, n <= keptEntries, cap(f.buf) > 0)
	}
}
