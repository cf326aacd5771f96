package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// The processes of these tests are the test binary itself, which runs
// TestLoadingProcess with this in its environment: the engine and the server.
const loadingProcessEnv = "MEMRING_TEST_LOADING_PROCESS"

// callsPerProcess is how many goroutines of each process want the key.
const callsPerProcess = 20

// loadingOptions are those of all processes. A claim of the dead lasts a second.
var loadingOptions = client.LoadOptions{TTL: time.Hour, Refresh: time.Minute, Claim: time.Second}

// TestLoadingProcess is one process of the others' tests. It does what it reads
// from its standard input, and says what happens; by itself it is no test.
func TestLoadingProcess(t *testing.T) {
	kind, addr, ok := strings.Cut(os.Getenv(loadingProcessEnv), " ")
	if !ok {
		return
	}
	cfg := &client.Config{Engine: client.Poll, OpTimeout: 20 * time.Second}
	if kind == "uring" {
		cfg.Engine = client.URing
	}
	c := dial(t, cfg, addr)
	var out sync.Mutex
	say := func(what string) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(">" + what)
	}
	orders := make(chan string) // to load
	load := func(ctx context.Context) (client.Item, error) {
		say("loading")
		select {
		case v := <-orders:
			if v == "" {
				return client.Item{}, errors.New("failure")
			}
			return client.Item{Value: []byte(v)}, nil
		case <-ctx.Done():
			return client.Item{}, ctx.Err()
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		order, arg, _ := strings.Cut(in.Text(), " ")
		if order == "load" {
			go func() { orders <- arg }()
			continue
		}
		for range callsPerProcess {
			go func() {
				it, err := c.GetOrLoad(ctx, "k", load, loadingOptions)
				if err != nil {
					say("error " + err.Error())
				} else {
					say("got " + string(it.Value))
				}
			}()
		}
		go func() {
			eventually(t, "all wait", func() bool { return c.LoadCounters().Shared >= callsPerProcess-1 || ctx.Err() != nil })
			say("all wait")
		}()
	}
	os.Exit(0) // the other end is gone, and so may be those who would read what is to be said
}

// loadingProcess is a process from outside.
type loadingProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// fleet is a number of processes, and what they say.
type fleet struct {
	t     *testing.T
	all   []*loadingProcess
	heard chan saying
}

type saying struct {
	by   *loadingProcess
	what string
}

func newFleet(t *testing.T, kind client.EngineKind, addr string, n int) *fleet {
	exe, err := os.Executable()
	require.NoError(t, err)
	f := &fleet{t: t, heard: make(chan saying)}
	name := map[client.EngineKind]string{client.URing: "uring", client.Poll: "poll"}[kind]
	var wg sync.WaitGroup
	done := make(chan struct{})
	t.Cleanup(func() {
		close(done)
		for _, p := range f.all {
			p.in.Close()
			_ = p.cmd.Process.Kill()
		}
		wg.Wait()
		for _, p := range f.all {
			_ = p.cmd.Wait()
		}
	})
	for range n {
		p := &loadingProcess{cmd: exec.Command(exe, "-test.run=^TestLoadingProcess$")}
		p.cmd.Env = append(os.Environ(), loadingProcessEnv+"="+name+" "+addr)
		p.cmd.Stderr = os.Stderr
		out, err := p.cmd.StdoutPipe()
		require.NoError(t, err)
		p.in, err = p.cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, p.cmd.Start())
		f.all = append(f.all, p)
		wg.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				what, ok := strings.CutPrefix(lines.Text(), ">")
				if !ok {
					continue
				}
				select {
				case f.heard <- saying{p, what}:
				case <-done:
					return
				}
			}
		})
	}
	return f
}

func (p *loadingProcess) tell(t *testing.T, order string) {
	_, err := io.WriteString(p.in, order+"\n")
	require.NoError(t, err)
}

// call has processes ask for the key.
func (f *fleet) call(of ...*loadingProcess) {
	for _, p := range of {
		p.tell(f.t, "call")
	}
}

// listen counts what the processes say until all of want has been said that often.
// It returns the last one to have said each thing.
func (f *fleet) listen(want map[string]int) map[string]*loadingProcess {
	f.t.Helper()
	who := make(map[string]*loadingProcess)
	left := 0
	for _, n := range want {
		left += n
	}
	timeout := time.After(time.Minute)
	for left > 0 {
		select {
		case s := <-f.heard:
			require.Positivef(f.t, want[s.what], "a process says %q, want %v", s.what, want)
			want[s.what]--
			left--
			who[s.what] = s.by
		case <-timeout:
			require.Fail(f.t, "the processes are silent", "still to be heard: %v", want)
		}
	}
	return who
}

func onFleet(t *testing.T, f func(t *testing.T, c *client.Client, f *fleet)) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
		f(t, dial(t, &client.Config{Engine: kind, OpTimeout: 20 * time.Second}, mc.Addr()), newFleet(t, kind, mc.Addr(), 3))
	})
}

// Of all goroutines of all processes one loads, and all get what it has loaded.
func TestFleetLoadsOnce(t *testing.T) {
	onFleet(t, func(t *testing.T, _ *client.Client, f *fleet) {
		f.call(f.all...)
		loader := f.listen(map[string]int{"loading": 1, "all wait": 3})["loading"]
		loader.tell(t, "load v")
		f.listen(map[string]int{"got v": 3 * callsPerProcess})
	})
}

// The process that loads is killed. Another one takes over, and nobody who is left
// gets an error, or nothing.
func TestFleetLoaderIsKilled(t *testing.T) {
	onFleet(t, func(t *testing.T, _ *client.Client, f *fleet) {
		f.call(f.all...)
		loader := f.listen(map[string]int{"loading": 1, "all wait": 3})["loading"]
		require.NoError(t, loader.cmd.Process.Kill()) // SIGKILL
		next := f.listen(map[string]int{"loading": 1})["loading"]
		require.NotSame(t, loader, next)
		next.tell(t, "load v")
		f.listen(map[string]int{"got v": 2 * callsPerProcess})
	})
}

// A load fails. Its process gets the error, and another one loads.
func TestFleetLoadFails(t *testing.T) {
	onFleet(t, func(t *testing.T, _ *client.Client, f *fleet) {
		f.call(f.all...)
		loader := f.listen(map[string]int{"loading": 1, "all wait": 3})["loading"]
		loader.tell(t, "load")
		next := f.listen(map[string]int{"error memring: load: failure": callsPerProcess, "loading": 1})["loading"]
		require.NotSame(t, loader, next)
		next.tell(t, "load v")
		f.listen(map[string]int{"got v": 2 * callsPerProcess})
	})
}

// An item that is about to expire is loaded anew by one, while all get it as it is;
// if that one is killed, by another one.
func TestFleetRefreshesOnce(t *testing.T) {
	onFleet(t, func(t *testing.T, c *client.Client, f *fleet) {
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("old"), TTL: 50 * time.Second}))
		f.call(f.all...)
		loader := f.listen(map[string]int{"loading": 1, "got old": 3 * callsPerProcess})["loading"]
		require.NoError(t, loader.cmd.Process.Kill())
		eventually(t, "the claim of the dead is over", func() bool {
			_, err := c.GetOrLoad(patient(t), "k", noLoad(t), client.LoadOptions{TTL: time.Hour, Claim: time.Second})
			require.NoError(t, err)
			it, err := c.Get(patient(t), "k")
			require.NoError(t, err)
			return it.State == 0
		})
		var left []*loadingProcess
		for _, p := range f.all {
			if p != loader {
				left = append(left, p)
			}
		}
		f.call(left...)
		next := f.listen(map[string]int{"loading": 1, "got old": 2 * callsPerProcess})["loading"]
		next.tell(t, "load new")
		eventually(t, "it is new", func() bool {
			it, err := c.Get(patient(t), "k")
			require.NoError(t, err)
			return string(it.Value) == "new"
		})
	})
}
