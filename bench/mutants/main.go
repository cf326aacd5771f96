// Command mutants shows that the tests can fail: it breaks the library on
// purpose, one mutation at a time, in a copy of the tree, and has the
// short tests find out. It fails unless they notice every mutation.
//
//	cd bench && go run ./mutants [-only REGEXP]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutation is one way to break the library, and the tests that must notice.
type mutation struct {
	name    string
	edits   []edit
	dir     string // of the package whose tests are run
	pattern string // which of them, as for go test -run
}

// edit replaces the only occurrence of old in a file.
type edit struct{ file, old, new string }

// seeds is how many the seeded tests are given. It is few, so that a mutation
// costs seconds: a bug that takes many seeds is not what this is about.
const seeds = 2000

// testTime is when a test counts as hanging, which is a way to fail.
const testTime = 40 * time.Second

func main() {
	only := flag.String("only", "", "try only mutations whose name matches this `regexp`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if !ok || err != nil {
		stop()
		os.Exit(1)
	}
}

// run tries all mutations whose name matches only, and reports whether all were
// caught.
func run(ctx context.Context, only string) (ok bool, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	t, err := copyTree(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.remove()) }()

	var chosen []mutation
	for _, m := range slices.Concat(clientMutations, batchMutations, engineMutations, gomemcacheMutations) {
		if match.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	if err := t.checkPassing(ctx, chosen); err != nil {
		return false, err
	}
	caught := 0
	for _, m := range chosen {
		begun := time.Now()
		by, err := t.try(ctx, m)
		var verdict string
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			verdict = "BROKEN: " + err.Error()
		case by == "":
			verdict = "NOT CAUGHT by " + m.dir + " " + m.pattern
		default:
			caught++
			verdict = m.dir + " " + by
		}
		fmt.Printf("%-48s %5.1fs  %s\n", m.name, time.Since(begun).Seconds(), verdict)
	}
	fmt.Printf("mutants: %d/%d caught\n", caught, len(chosen))
	return caught == len(chosen) && caught > 0, nil
}

// checkPassing runs the tests on the tree as it is: what fails anyway catches
// nothing.
func (t *tree) checkPassing(ctx context.Context, list []mutation) error {
	done := map[string]bool{}
	for _, m := range list {
		id := m.dir + " " + m.pattern
		if done[id] {
			continue
		}
		done[id] = true
		by, err := t.test(ctx, m)
		if err != nil {
			return err
		}
		if by != "" {
			return fmt.Errorf("%s %s fails without any mutation", m.dir, by)
		}
	}
	return nil
}

// tree is a copy of the work tree.
type tree struct {
	tmp    string // holds src and the test binary
	src    string
	binary string
}

// copyTree copies the files of the work tree that git tracks, or would.
func copyTree(ctx context.Context) (*tree, error) {
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	list, err := output(ctx, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	t := &tree{tmp: tmp, src: filepath.Join(tmp, "src"), binary: filepath.Join(tmp, "mutant.test")}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err == nil {
			err = t.write(name, text)
		}
		if err != nil {
			return nil, errors.Join(err, t.remove())
		}
	}
	return t, nil
}

func (t *tree) remove() error { return os.RemoveAll(t.tmp) }

func (t *tree) write(name string, text []byte) error {
	path := filepath.Join(t.src, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// try applies m, runs its tests and takes m back. It returns the test that
// failed, or "" if none did.
func (t *tree) try(ctx context.Context, m mutation) (by string, err error) {
	for _, e := range m.edits {
		before, err := os.ReadFile(filepath.Join(t.src, e.file))
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(before), e.old); n != 1 {
			return "", fmt.Errorf("%s has the text to replace %d times, not once:\n%s", e.file, n, e.old)
		}
		defer func() { err = errors.Join(err, t.write(e.file, before)) }()
		if err := t.write(e.file, []byte(strings.Replace(string(before), e.old, e.new, 1))); err != nil {
			return "", err
		}
	}
	return t.test(ctx, m)
}

// test builds the tests of a mutation's package, which must succeed, and runs
// those that it names.
func (t *tree) test(ctx context.Context, m mutation) (by string, err error) {
	module, dir := t.src, m.dir
	if inside, ok := strings.CutPrefix(dir, "bench/"); ok { // a module of its own
		module, dir = filepath.Join(t.src, "bench"), inside
	}
	if _, err := output(ctx, module, "go", "test", "-c", "-vet=off", "-o", t.binary, "./"+dir); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, t.binary, "-test.run", "^("+m.pattern+")$", "-test.failfast",
		"-test.timeout", testTime.String())
	cmd.Dir = filepath.Join(t.src, m.dir)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SEEDS=%d", seeds))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &exit):
		return failed(string(out), m.pattern), nil
	case err != nil:
		return "", err
	case strings.Contains(string(out), "no tests to run"):
		return "", fmt.Errorf("%s has no test %s", m.dir, m.pattern)
	}
	return "", nil
}

var (
	failLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	diedLine = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)`)
	hungLine = regexp.MustCompile(`(?m)^\s+(Test\w+)\S* \(`) // "running tests:"
)

// failed finds the test that failed in a test binary's output.
func failed(out, pattern string) string {
	name, how := pattern, ""
	if m := failLine.FindStringSubmatch(out); m != nil {
		name = m[1]
	}
	if m := diedLine.FindStringSubmatch(out); m != nil {
		how = ": " + m[1]
		if len(how) > 60 {
			how = how[:60]
		}
		if m := hungLine.FindStringSubmatch(out); m != nil {
			name = m[1]
		}
	}
	return name + how
}

// output runs a command that must succeed.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, complaints.String())
	}
	return string(out), nil
}
