package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

var (
	simKeys     = []string{"k0", "k1", "k2", "k3", "k4", "k5"}
	simCounters = []string{"c0", "c1"} // multiples of 7 and 11
)

// simHang is the virtual time after which a simulation counts as hung; all of
// it takes some minutes at most.
const simHang = 30 * time.Minute

// sim is one simulation, inside one bubble.
type sim struct {
	simPlan
	c        *client.Client
	names    []string
	selector client.Selector
	nodes    []*simServer
	ledger   *simLedger
	model    *simModel

	clock    atomic.Int64 // logical time, also the source of unique numbers
	late     simLate
	forged   atomic.Int64 // replies
	calm     atomic.Bool  // no more faults
	closedAt atomic.Pointer[time.Time]

	mu     sync.Mutex // guards all below, and simServer.dialed
	kept   []simKept
	result simResult
}

// simKept is memory that was a caller's own when its call had returned.
type simKept struct{ is, was []byte }

// simResult is what became of a simulation.
type simResult struct {
	wrongs, hangs, others []string
	counters              client.Counters
	ops                   int64
	owed, saved           uint64 // requests given up, and late replies to them, if no reply may be missing
}

func (s *sim) tick() int64 { return s.clock.Add(1) }

func (s *sim) closed() time.Time {
	if t := s.closedAt.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

func (s *sim) note(list *[]string, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*list) < 5 {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
}

// The kinds of failure: a caller was given what it must not have, a call did
// not return in time, another promise was broken.
func (s *sim) wrong(format string, args ...any)  { s.note(&s.result.wrongs, format, args...) }
func (s *sim) hang(format string, args ...any)   { s.note(&s.result.hangs, format, args...) }
func (s *sim) broken(format string, args ...any) { s.note(&s.result.others, format, args...) }

func (s *sim) keep(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, simKept{b, bytes.Clone(b)})
}

// simulate runs one seed. The caller has made a bubble.
func simulate(seed uint64) *sim {
	s := &sim{simPlan: newSimPlan(seed), ledger: newSimLedger(), model: newSimModel()}
	for i := range s.servers {
		s.names = append(s.names, fmt.Sprintf("server%d.invalid:11211", i))
		node, err := newSimServer(s, i)
		if err != nil {
			s.broken("%v", err)
			return s
		}
		s.nodes = append(s.nodes, node)
	}
	s.selector = client.Rendezvous(s.names)
	s.config.DialContext = func(ctx context.Context, _, addr string) (net.Conn, error) {
		for i, name := range s.names {
			if name == addr {
				return s.nodes[i].dial(ctx)
			}
		}
		return nil, errors.New("no such server")
	}
	if seed%2 == 0 {
		s.config.LateWrite = s.late.report(s)
	}
	var err error
	if s.c, err = client.New(s.names, &s.config); err != nil {
		s.broken("%v", err)
		return s
	}
	s.phase("callers", s.load)
	s.phase("recovery", s.recover)
	s.phase("close", s.end)
	return s
}

// phase runs f, which must come to an end in virtual time. One that does not
// leaves goroutines in the bubble, which synctest reports.
func (s *sim) phase(name string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.guard()
		f()
	}()
	select {
	case <-done:
	case <-time.After(simHang):
		buf := make([]byte, 64<<10)
		s.hang("%s: never ended\n%s", name, buf[:runtime.Stack(buf, true)])
	}
}

// load lets the callers loose, and perhaps closes the client under them.
func (s *sim) load() {
	var wg sync.WaitGroup
	for i := range s.callers {
		r := simRand(s.seed, simForCaller, uint64(i), 0)
		c := &simCaller{sim: s, r: r, seen: make(map[string]client.Item)}
		wg.Go(c.run)
	}
	if s.closeAt > 0 {
		for range 2 {
			wg.Go(func() {
				time.Sleep(s.closeAt)
				now := time.Now()
				s.closedAt.CompareAndSwap(nil, &now)
				if err := s.c.Close(); err != nil {
					s.broken("close: %v", err)
				}
				if late := time.Since(now); late > simSlack {
					s.hang("close took %v", late)
				}
			})
		}
	}
	wg.Wait()
}

// recover ends the faults and checks that the client comes back, and that all
// keys hold what they may.
func (s *sim) recover() {
	s.calm.Store(true)
	s.result.ops = int64(s.callers * s.ops)
	s.drain()
	n := s.c.Counters()
	s.result.counters = n
	for _, v := range n.Servers {
		if !s.gentle() || s.closeAt > 0 {
			continue
		}
		s.result.owed += v.Timeouts
		s.result.saved += v.LateReplies
		if v.LateReplies != v.Timeouts {
			s.broken("%d requests were given up, and %d late replies came", v.Timeouts, v.LateReplies)
		}
	}
	s.late.audit(s)
	if s.gentle() && n.Losses > 0 && s.closeAt == 0 {
		s.broken("%d connections were lost, and nothing breaks any", n.Losses)
	}
	if most := int64(s.servers * (s.config.ConnsPerServer + s.config.SpareConns)); n.Conns > most {
		s.broken("%d connections are open, of %d at most", n.Conns, most)
	}
	if n.Desyncs > uint64(s.forged.Load()) {
		s.broken("%d desyncs, but only %d replies were forged", n.Desyncs, s.forged.Load())
	}
	if s.closeAt > 0 || !s.healing() {
		return
	}
	for try := 1; ; try++ {
		err := s.c.Ping(context.Background())
		s.countPing(err)
		if err == nil {
			break
		}
		if try == 40 {
			s.hang("the client does not recover: %v", err)
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	if s.level == simHostile {
		return // what was forged may be found at the next call, and the next
	}
	reader := &simCaller{sim: s, r: rand.New(rand.NewPCG(s.seed, 1)), seen: make(map[string]client.Item)}
	for _, k := range simKeys {
		reader.get(k)
	}
}

// drain lets the last late replies come. An idle connection is read once every
// few milliseconds only, and some here bring few bytes at a time.
func (s *sim) drain() {
	for range 60 {
		time.Sleep(10 * time.Second)
		paid := true
		for _, v := range s.c.Counters().Servers {
			paid = paid && v.LateReplies == v.Timeouts
		}
		if paid || !s.gentle() {
			return
		}
	}
}

// end closes everything and looks at what is left.
func (s *sim) end() {
	if err := s.c.Close(); err != nil {
		s.broken("close: %v", err)
	}
	if n := s.c.Counters(); n.Conns != 0 || n.Dials != n.Losses {
		s.broken("after Close %d connections are open; %d were opened and %d ended", n.Conns, n.Dials, n.Losses)
	}
	if _, err := s.c.Get(context.Background(), "k0"); !errors.Is(err, client.ErrClosed) {
		s.broken("after Close: %v", err)
	}
	for _, n := range s.nodes {
		if err := n.Close(); err != nil {
			s.broken("server: %v", err)
		}
	}
	s.ledger.audit(s.level == simHostile, func(problem string) { s.wrong("%s", problem) })
	for _, k := range s.kept {
		if !bytes.Equal(k.is, k.was) {
			s.wrong("a caller's memory was written to after its call: %.200q was %.200q", k.is, k.was)
		}
	}
}
