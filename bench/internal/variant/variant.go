// Package variant builds this program with another version of the library in it, whose files are edited on
// the way to the compiler (go build -overlay). The work tree is not touched.
package variant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Edit replaces the only occurrence of Old in a file of the library, named from the module's root.
type Edit struct{ File, Old, New string }

// Build builds package main of this module into dir and returns the program's path. It needs Go, and the
// checkout that this program was built from.
func Build(ctx context.Context, dir string, edits []Edit) (exe string, err error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // -trimpath
		return "", errors.New("this program does not know where its checkout is")
	}
	bench := filepath.Join(filepath.Dir(file), "..", "..")
	root, err := goTool(ctx, bench, "list", "-m", "-f", "{{.Dir}}", "github.com/memring/memring")
	if err != nil {
		return "", err
	}
	texts, err := Apply(root, edits)
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range texts {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, name)] = to
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	listed := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(listed, list, 0o600); err != nil {
		return "", err
	}
	exe = filepath.Join(dir, "bench-variant")
	_, err = goTool(ctx, bench, "build", "-overlay", listed, "-o", exe, ".")
	return exe, err
}

// Apply returns the edited texts of the files under root, by name.
func Apply(root string, edits []Edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		text, ok := texts[e.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("%s has the text to replace %d times, not once:\n%s", e.File, n, e.Old)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return texts, nil
}

func goTool(ctx context.Context, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = in
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(complaints.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
