package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/transport/transporttest"
)

const (
	loadSimSeeds   = 400
	loadSimClaim   = 5 * time.Second
	loadSimLatency = 30 * time.Millisecond
	loadSimMaxLoad = 12 * time.Second
	loadSimHang    = 10 * time.Minute
)

// loadSim is a world of several processes (a client each) that load the same few
// keys from a source, while others change the source, delete and invalidate what is
// cached, flush the server, claim keys and die, and close clients; in half of the
// seeds the server has faults, too. Its rules are in reader and loading.
type loadSim struct {
	srv    *memcachedtest.Server
	faults bool
	opts   client.LoadOptions

	mu       sync.Mutex
	rng      *rand.Rand // under mu: a script is called from several goroutines
	clients  []*client.Client
	keys     []*simKey
	problems []string
	loads    int
	hits     int
}

// simKey is a key's entry in the source, and what is known about its item.
type simKey struct {
	name    string
	writing chan struct{} // one writer at a time; time goes on while others wait

	version  int
	floors   []floor // what readers may rely on, from when on
	changing int     // commands that may end a claim are under way
	changed  time.Time
	epoch    int // how many such there have been
	running  map[*simLoad]bool
}

type floor struct {
	at      time.Time
	version int
}

// simLoad is one call of load.
type simLoad struct {
	began  time.Time
	epoch  int          // in which it was claimed; -1 if that is not certain
	behind *atomic.Bool // its caller has left, or has not waited for it
}

func (s *loadSim) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

func (s *loadSim) duration(d time.Duration) time.Duration { return time.Duration(s.draw(int(d))) }

func (s *loadSim) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// script makes the server as slow as a network, and faulty now and then.
func (s *loadSim) script(memcachedtest.Request) memcachedtest.Action {
	a := memcachedtest.Answer().Delay(s.duration(loadSimLatency))
	if !s.faults {
		return a
	}
	switch s.draw(100) {
	case 0, 1:
		return memcachedtest.ErrorLine("SERVER_ERROR out of memory")
	case 2, 3:
		return a.Delay(s.duration(3 * time.Second))
	case 4:
		return a.CutAt(0)
	case 5:
		return memcachedtest.Answer().Unexecuted().CutAt(0)
	}
	return a
}

func (s *loadSim) newClient() *client.Client {
	c, err := client.New([]string{s.srv.Addr()}, &client.Config{DialContext: s.srv.DialContext, MaxDebt: 4})
	if err != nil {
		panic(err)
	}
	return c
}

func (s *loadSim) pick() (*client.Client, *simKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[s.rng.IntN(len(s.clients))], s.keys[s.rng.IntN(len(s.keys))]
}

// floor is the version that a call which begins at t must not fall below.
func (k *simKey) floor(t time.Time) int {
	v := 0
	for _, f := range k.floors {
		if !f.at.After(t) {
			v = max(v, f.version)
		}
	}
	return v
}

var errSimLoad = errors.New("the source fails")

// read is one GetOrLoad and the rules for what it returns.
func (s *loadSim) read() {
	c, k := s.pick()
	ctx, cancel := context.WithTimeout(context.Background(), loadSimHang)
	defer cancel()
	patient := s.draw(5) > 0
	if !patient {
		ctx, cancel = context.WithTimeout(ctx, s.duration(2*loadSimClaim))
		defer cancel()
	}
	opts := s.opts
	opts.Stale = s.draw(2) == 0
	opts.NoWait = s.draw(10) == 0
	behind := new(atomic.Bool)
	began := time.Now()
	it, err := c.GetOrLoad(ctx, k.name, func(ctx context.Context) (client.Item, error) { return s.load(ctx, k, behind) }, opts)
	behind.Store(true)

	var panicked *client.PanicError
	switch {
	case err == nil:
	case errors.Is(err, errSimLoad), errors.As(err, &panicked), errors.Is(err, client.ErrNotFound):
		return // as it was loaded
	case errors.Is(err, client.ErrClosed), opts.NoWait && errors.Is(err, client.ErrClaimed):
		return
	case !patient && errors.Is(err, context.DeadlineExceeded):
		return
	default:
		s.problem("a call on %s ended after %v with %v", k.name, time.Since(began), err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var version int
	if _, scanErr := fmt.Sscanf(string(it.Value), k.name+" %d", &version); scanErr != nil {
		s.problems = append(s.problems, fmt.Sprintf("%q is no value of %s", it.Value, k.name))
		return
	}
	since := began
	if s.faults {
		// Without the cache a call may get what a load brings that had begun before it.
		since = began.Add(-loadSimMaxLoad)
	}
	stale := it.State&client.Stale != 0
	switch low := k.floor(since); {
	case stale && !opts.Stale:
		s.problems = append(s.problems, "a stale value for a caller who does not want one")
	case version < low && !stale:
		s.problems = append(s.problems, fmt.Sprintf("%s has version %d, was %d at least when the call began", k.name, version, low))
	case it.State&^client.Stale != 0:
		s.problems = append(s.problems, fmt.Sprintf("state %b", it.State))
	}
	s.hits++
}

// load is the source, and the rule that a claim is one load's.
func (s *loadSim) load(ctx context.Context, k *simKey, behind *atomic.Bool) (client.Item, error) {
	l := &simLoad{began: time.Now(), behind: behind}
	s.mu.Lock()
	s.loads++
	l.epoch = k.epoch
	if k.changing > 0 || l.began.Sub(k.changed) <= 2*loadSimLatency {
		l.epoch = -1 // its claim may be from before the change
	}
	for o := range k.running {
		// One in the background may outlive the item that it is to replace.
		if !s.faults && l.epoch >= 0 && o.epoch == l.epoch && !o.behind.Load() && l.began.Sub(o.began) < loadSimClaim-loadSimLatency {
			s.problems = append(s.problems, fmt.Sprintf("%s is loaded, %v after another load began", k.name, l.began.Sub(o.began)))
		}
	}
	k.running[l] = true
	version := k.version
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(k.running, l)
		s.mu.Unlock()
	}()
	length := s.duration(loadSimClaim / 2)
	if s.draw(10) == 0 {
		length = s.duration(loadSimMaxLoad)
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
		return client.Item{}, fmt.Errorf("%w: %w", errSimLoad, ctx.Err())
	}
	it := client.Item{Value: []byte(fmt.Sprintf("%s %d", k.name, version))}
	switch s.draw(30) {
	case 0, 1, 2:
		return it, errSimLoad
	case 3:
		panic("panic")
	case 4:
		runtime.Goexit()
	case 5:
		return it, client.ErrNotFound
	case 6:
		it.TTL = -1
	}
	return it, nil
}

// change is anything that ends claims on keys, by a command that do sends. From
// the moment that it was carried out, readers may rely on what the source had before.
func (s *loadSim) change(do func() bool, keys ...*simKey) {
	s.mu.Lock()
	versions := make([]int, len(keys))
	for i, k := range keys {
		versions[i] = k.version
		k.epoch++
		k.changing++
	}
	s.mu.Unlock()
	done := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range keys {
		k.epoch++
		k.changing--
		k.changed = time.Now()
		if done {
			k.floors = append(k.floors, floor{time.Now(), versions[i]})
		}
	}
}

// write changes the source, and then what is cached.
func (s *loadSim) write() {
	c, k := s.pick()
	k.writing <- struct{}{}
	defer func() { <-k.writing }()
	s.mu.Lock()
	k.version++
	version := k.version
	s.mu.Unlock()
	ctx := context.Background()
	s.change(func() bool {
		var err error
		switch s.draw(3) {
		case 0:
			if err = c.Delete(ctx, k.name); errors.Is(err, client.ErrNotFound) {
				err = nil
			}
		case 1:
			err = c.Set(ctx, client.Item{Key: k.name, Value: []byte(fmt.Sprintf("%s %d", k.name, version)), TTL: s.opts.TTL})
		case 2:
			reply := s.say("md " + k.name + " I T1000")
			return reply == "HD" || reply == "NF"
		}
		return err == nil
	}, k)
}

// chaos is what happens to servers and processes.
func (s *loadSim) chaos() {
	_, k := s.pick()
	switch s.draw(4) {
	case 0:
		s.change(func() bool { return s.say("flush_all") == "OK" }, s.keys...)
	case 1: // a process that claims the key and dies
		s.say(fmt.Sprintf("mg %s N%d R3", k.name, loadSimClaim/time.Second+1))
	case 2: // a process that looks at a stale item, and does not know what it has won
		s.say("mg " + k.name)
	case 3:
		i := s.draw(len(s.clients))
		s.mu.Lock()
		old := s.clients[i]
		s.clients[i] = s.newClient()
		s.mu.Unlock()
		if err := old.Close(); err != nil {
			s.problem("close: %v", err)
		}
	}
}

// say sends a command as another client does, and returns the reply's first line.
func (s *loadSim) say(command string) string {
	p := s.srv.Pipe()
	defer p.Close()
	go func() { _, _ = io.WriteString(p, command+"\r\n") }()
	line, _ := bufio.NewReader(p).ReadString('\n')
	return strings.TrimSuffix(line, "\r\n")
}

// simulateLoads runs one seed in the current bubble.
func simulateLoads(seed uint64) *loadSim {
	s := &loadSim{rng: rand.New(rand.NewPCG(seed, 0)), faults: seed%2 == 0}
	s.opts = client.LoadOptions{TTL: 5*time.Second + s.duration(time.Minute), Claim: loadSimClaim}
	s.opts.Refresh = s.duration(s.opts.TTL)
	var err error
	if s.srv, err = memcachedtest.RunServer(memcachedtest.ServerOptions{Network: "none", Script: s.script, RecordLimit: -1}); err != nil {
		panic(err)
	}
	for range 3 {
		s.clients = append(s.clients, s.newClient())
	}
	for i := range 1 + s.draw(3) {
		s.keys = append(s.keys, &simKey{name: fmt.Sprint("key", i), version: 1, writing: make(chan struct{}, 1), running: make(map[*simLoad]bool)})
	}
	var wg sync.WaitGroup
	run := func(actors, times int, pause time.Duration, act func()) {
		for range actors {
			wg.Go(func() {
				for range times {
					time.Sleep(s.duration(pause))
					act()
				}
			})
		}
	}
	run(8, 16, 3*time.Second, s.read)
	run(2, 4, 15*time.Second, s.write)
	run(1, 4, 15*time.Second, s.chaos)
	wg.Wait()
	for _, c := range s.clients {
		if err := c.Close(); err != nil {
			s.problem("close: %v", err)
		}
	}
	if err := s.srv.Close(); err != nil {
		s.problem("close: %v", err)
	}
	return s
}

// No caller gets a value from before a change that it can know of, or one that was
// not loaded, or waits for ever; and a claim is one load's. What a seed draws is
// fixed; which of several goroutines runs first is not. See [transporttest.Seeds].
func TestLoadSimulation(t *testing.T) {
	seeds := transporttest.NewSeeds(t, loadSimSeeds)
	var loads, hits, failed atomic.Int64
	end := seeds.Watch(t, func() string { return fmt.Sprintf("loads=%d values=%d", loads.Load(), hits.Load()) })
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for seed := range seeds.Each() {
					var s *loadSim
					synctest.Test(t, func(*testing.T) { s = simulateLoads(seed) })
					loads.Add(int64(s.loads))
					hits.Add(int64(s.hits))
					if len(s.problems) == 0 {
						continue
					}
					t.Errorf("seed %d failed; replay: SEED=%d go test -count 20 -run '^TestLoadSimulation$' ./client\n%s",
						seed, seed, strings.Join(s.problems, "\n"))
					if failed.Add(1) == 20 {
						seeds.Stop()
					}
				}
			})
		}
	})
	end()
}
