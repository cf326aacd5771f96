package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Mutations go stale unnoticed when the code changes: each must find what it
// replaces, once.
func TestMutationsFit(t *testing.T) {
	for _, m := range slices.Concat(clientMutations, batchMutations, engineMutations, gomemcacheMutations) {
		for _, e := range m.edits {
			b, err := os.ReadFile("../../" + e.file)
			if err != nil || strings.Count(string(b), e.old) != 1 {
				t.Errorf("%s: %s has the text to replace %d times, not once", m.name, e.file, strings.Count(string(b), e.old))
			}
		}
	}
}
