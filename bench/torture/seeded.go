package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// seeded is a part that runs a test of the library in a process of its own. The test is one of those that
// transporttest.Seeds describes.
type seeded struct {
	part, engine string
	dir, test    string // of the test, in the library
}

var seededParts = []seeded{
	{"simulation", "poll", "client", "TestSimulation"},
	{"fakekernel", "uring", "ring", "TestFakeKernel"},
}

// tests are the binaries of the seeded parts.
type tests struct {
	tmp     string
	library string // its root
}

// buildTests builds the tests of the parts.
func buildTests(ctx context.Context, goTool string, parts []seeded) (_ *tests, err error) {
	t := new(tests)
	if t.tmp, err = os.MkdirTemp("", "torture"); err != nil {
		return nil, err
	}
	root, err := output(ctx, ".", goTool, "list", "-m", "-f", "{{.Dir}}", "github.com/memring/memring")
	t.library = strings.TrimSpace(root)
	for _, p := range parts {
		if err == nil {
			_, err = output(ctx, t.library, goTool, "test", "-c", "-o", t.binary(p), "./"+p.dir)
		}
	}
	if err != nil {
		return nil, errors.Join(err, t.remove())
	}
	return t, nil
}

func (t *tests) binary(p seeded) string { return filepath.Join(t.tmp, p.part+".test") }
func (t *tests) remove() error          { return os.RemoveAll(t.tmp) }

func (t *tests) command(ctx context.Context, p seeded) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.binary(p), "-test.run", "^"+p.test+"$", "-test.v", "-test.timeout", "0")
	cmd.Dir = filepath.Join(t.library, p.dir)
	return cmd
}

// childPatience is how long a test may take to end in good order. It finds a seed that hangs in 20 s.
const childPatience = 30 * time.Second

// run runs the part's test on the seeds that env chooses, until ctx ends. An error says that it could not be
// done; what the test finds is c's.
func (p seeded) run(ctx context.Context, cmd *exec.Cmd, env []string, c *child) error {
	cmd.Env = append(childEnv(os.Environ()), env...)
	cmd.Stdout, cmd.Stderr = c, c // one pipe; a child whose parent has died dies of it with the next score
	cmd.Cancel = func() error {
		if cmd.Process.Signal(os.Interrupt) != nil {
			return cmd.Process.Kill() // there are no interrupts on this system
		}
		return nil
	}
	cmd.WaitDelay = childPatience
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	c.flush()
	n, _ := c.state()
	if err != nil && ctx.Err() == nil && !n.faulty() {
		c.broken(fmt.Errorf("%s: %w; why is told above", p.test, err))
	}
	return nil
}

// scoreEvery is how often the tests tell their score: what is lost of it if one dies.
const scoreEvery = time.Second

// childEnv is the environment without what says which seeds to run, which comes from flags here.
func childEnv(env []string) (kept []string) {
	debug := "tracebacklabels=1" // has a crash name its seed
	for _, v := range env {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "SEED", "SEEDS", "FOR", "PROGRESS":
		case "GODEBUG":
			debug = value + "," + debug
		default:
			kept = append(kept, v)
		}
	}
	return append(kept, "GODEBUG="+debug, "PROGRESS="+scoreEvery.String())
}

// child is what a seeded test prints, as it comes.
type child struct {
	part seeded
	say  report
	fail func(seed uint64, again string) // told of each seed that failed

	mu    sync.Mutex
	rest  []byte // of a line
	score counts
	line  string // the score as the test told it
	dying bool   // of a panic
	told  bool   // which seed it was
}

var (
	failedLine = regexp.MustCompile(`seed (\d+) failed; replay: (.*)`)
	labelLine  = regexp.MustCompile(`^goroutine .*labels:\{"seed": "(\d+)"`)
	noise      = regexp.MustCompile(`^(=== |\s*--- PASS|PASS$)`)
)

func (c *child) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, b...)
	for {
		line, rest, ok := bytes.Cut(c.rest, []byte{'\n'})
		if !ok {
			return len(b), nil
		}
		c.rest = rest
		c.tell(string(line))
	}
}

func (c *child) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rest) > 0 {
		c.tell(string(c.rest))
		c.rest = nil
	}
}

// tell reads a line. mu is held.
func (c *child) tell(line string) {
	if score, ok := strings.CutPrefix(line, "score "); ok {
		c.line = score
		c.read(score)
		return
	}
	if noise.MatchString(line) {
		return
	}
	last := strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	c.dying = c.dying || last
	if m := failedLine.FindStringSubmatch(line); m != nil {
		seed, _ := strconv.ParseUint(m[1], 10, 64)
		c.fail(seed, m[2])
		c.told = last
		return
	}
	c.say("%s: %s", c.part.part, line)
	if m := labelLine.FindStringSubmatch(line); m != nil && c.dying && !c.told {
		seed, _ := strconv.ParseUint(m[1], 10, 64)
		c.fail(seed, fmt.Sprintf("SEED=%d go test -count 20 -run '^%s$' ./%s", seed, c.part.test, c.part.dir))
		c.told = true
	}
}

// read takes the numbers out of a score. mu is held.
func (c *child) read(score string) {
	var n counts
	keys := n.keys()
	for _, pair := range strings.Fields(score) {
		key, value, _ := strings.Cut(pair, "=")
		if to := keys[key]; to != nil {
			*to, _ = strconv.ParseUint(value, 10, 64)
		}
	}
	c.score = n
}

func (c *child) state() (counts, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.score, c.line
}

// broken counts that the test failed although its score is good.
func (c *child) broken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.score.broken++
	c.say("%v", err)
}

// output runs a command that must succeed.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out), nil
}
