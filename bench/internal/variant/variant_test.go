package variant

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUncheckedApplies fails when the library has changed where the edits are: then they have to follow.
func TestUncheckedApplies(t *testing.T) {
	texts, err := Apply("../../..", Unchecked)
	require.NoError(t, err)
	require.Len(t, texts, 5)
	require.NotContains(t, texts["client/encode.go"], `" O"`)
}

func TestApplyWantsTheTextOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("abca"), 0o600))
	got, err := Apply(dir, []Edit{{"f", "bc", "x"}, {"f", "ax", "y"}})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"f": "ya"}, got, "one edit after the other")
	for _, old := range []string{"a", "nothing"} {
		_, err := Apply(dir, []Edit{{"f", old, ""}})
		require.ErrorContains(t, err, "not once")
	}
}
