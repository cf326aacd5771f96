package peers

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A document's JSON is as long as the bytes that it is compared with, and the same in
// every process.
func TestDocuments(t *testing.T) {
	for _, size := range []int{200, 1 << 10, 256 << 10} {
		for i := range 20 {
			d, err := newDocument("json:k", i, size)
			require.NoError(t, err)
			again, err := newDocument("json:k", i, size)
			require.NoError(t, err)
			require.Equal(t, d, again)
			b, err := json.Marshal(d)
			require.NoError(t, err)
			require.Len(t, b, size)
		}
	}
	_, err := newDocument("json:k", 0, 10)
	require.Error(t, err)
}
