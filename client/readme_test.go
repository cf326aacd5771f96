package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's programs compile, just as they stand there.
func TestReadmeCompiles(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	n := 0
	for _, block := range strings.Split(string(text), "```go\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if !strings.HasPrefix(block, "package main") {
			continue
		}
		n++
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, []byte(block), 0o600))
		cmd := exec.Command("go", "vet", file)
		cmd.Dir = ".." // the module that it imports
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", block, out)
	}
	require.NotZero(t, n, "the README has no example")
}
