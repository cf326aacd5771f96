package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/fallback"
)

// Client talks to a set of memcached servers. It is safe for use by many
// goroutines, which is what it is for: they share its few connections. Make it
// with [New]; its methods return [ErrNilClient] if it is nil.
type Client struct {
	cfg      Config
	servers  []*server
	selector Selector
	keys     keyspace
	engines  []*engineSlot
	name     string // of the engine
	reason   error  // why it is not io_uring

	home    sync.Pool // of *engineSlot, see chooseEngine
	nextEng atomic.Uint32

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	mu     sync.Mutex // orders spawn and Close
	closed atomic.Bool
	wg     sync.WaitGroup

	timeouts atomic.Uint64

	lender lender
	loads  flights
}

// engine is what the client needs of its engines beyond the seam.
type engine interface {
	transport.Engine
	Counters() transport.Counters
}

// engineSlot is one engine of the client.
type engineSlot struct {
	engine         // with TLS on top, if there is any
	base    engine // without
	i       int
	ops     sync.Pool // of *op: an op stays with its engine, as its waiter must
	fanouts sync.Pool // of *fanout, likewise
}

// chooseEngine returns the engine for the next request. With several it stays
// the same for callers that run on the same processor, since that is what a
// sync.Pool remembers by: so caller, connection and thread stay together.
func (cl *Client) chooseEngine() *engineSlot {
	if len(cl.engines) == 1 {
		return cl.engines[0]
	}
	e := cl.home.Get().(*engineSlot)
	cl.home.Put(e)
	return e
}

// The names that [Client.Engine] returns.
const (
	EngineURing = "io_uring"
	EnginePoll  = "poll"
)

// New makes a client for servers, each given as "host:port", "[IPv6]:port" or
// "unix:/path". It checks everything and sets up io_uring, but does not
// connect: the first request to a server does. A nil cfg means the defaults.
func New(servers []string, cfg *Config) (*Client, error) {
	full, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cl := &Client{cfg: full, keys: full.keyspace()}
	if full.PoisonLeases {
		cl.lender.ward = new(quarantine)
	}
	if err := cl.addServers(servers); err != nil {
		return nil, err
	}
	if full.Selector != nil {
		cl.selector = full.Selector(servers)
	}
	if cl.selector == nil {
		cl.selector = Rendezvous(servers)
	}
	if err := cl.openEngines(); err != nil {
		return nil, err
	}
	for _, s := range cl.servers {
		for _, e := range cl.engines {
			s.pools = append(s.pools, &pool{srv: s, eng: e,
				slots: make([]atomic.Pointer[conn], full.ConnsPerServer+full.SpareConns), usual: full.ConnsPerServer})
		}
	}
	cl.home.New = func() any { return cl.engines[cl.nextEng.Add(1)%uint32(len(cl.engines))] }
	cl.ctx, cl.cancel = context.WithCancel(context.Background())
	cl.loads.ctx, cl.loads.cancel = context.WithCancel(cl.ctx)
	return cl, nil
}

func (cl *Client) addServers(servers []string) error {
	if len(servers) == 0 {
		return fmt.Errorf("%w: no servers", ErrConfig)
	}
	seen := make(map[string]bool)
	for i, name := range servers {
		network, addr, err := parseAddr(name)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%w: server %q is listed twice", ErrConfig, name)
		}
		seen[name] = true
		s := &server{cl: cl, index: i, name: name, network: network, addr: addr}
		for v := range s.misses {
			s.misses[v] = &OpError{Op: verb(v).String(), Server: name, Err: ErrNotFound}
		}
		s.unchanged = &OpError{Op: verbGet.String(), Server: name, Err: ErrNotModified}
		cl.servers = append(cl.servers, s)
	}
	return nil
}

// openEngines opens the io_uring engines, or the poll engine instead.
func (cl *Client) openEngines() error {
	switch {
	case cl.cfg.Engine == Poll:
		cl.reason = errors.New("Config.Engine is Poll")
	case cl.cfg.DialContext != nil:
		cl.reason = errors.New("Config.DialContext is set, and its connections run on the poll engine")
	default:
		for range cl.cfg.Rings {
			e, err := newURing()
			if err != nil {
				cl.reason = err
				break
			}
			cl.addEngine(e)
		}
	}
	if len(cl.engines) > 0 { // fewer rings than wished for serve as well
		cl.name = EngineURing
		return nil
	}
	if cl.cfg.Engine == URing {
		return fmt.Errorf("memring: Config.Engine is URing, but io_uring cannot be used: %w", cl.reason)
	}
	cl.name = EnginePoll
	cl.addEngine(fallback.New(&fallback.Config{DialContext: cl.cfg.DialContext}))
	return nil
}

func (cl *Client) addEngine(e engine) {
	s := &engineSlot{engine: e, base: e, i: len(cl.engines)}
	if cl.cfg.TLS != nil {
		s.engine = cl.secured(e)
	}
	s.ops.New = func() any { return &op{eng: s} }
	s.fanouts.New = func() any { return &fanout{eng: s} }
	cl.engines = append(cl.engines, s)
}

// Engine tells which engine does the client's I/O, EngineURing or EnginePoll,
// and, if it is not io_uring or not at its best, why and what to do about it.
func (cl *Client) Engine() (name string, reason error) {
	if cl == nil || cl.engines == nil {
		return "", ErrNilClient
	}
	if cl.name == EnginePoll {
		return cl.name, cl.reason
	}
	if cl.reason != nil {
		return cl.name, fmt.Errorf("%d rings instead of %d: %w", len(cl.engines), cl.cfg.Rings, cl.reason)
	}
	for _, e := range cl.engines {
		if err := degraded(e.base); err != nil {
			return cl.name, err
		}
	}
	return cl.name, nil
}

// Servers returns the servers' addresses as they were given to [New].
func (cl *Client) Servers() []string {
	if cl == nil {
		return nil
	}
	names := make([]string, len(cl.servers))
	for i, s := range cl.servers {
		names[i] = s.name
	}
	return names
}

// spawn runs f in a goroutine that Close waits for, unless the client is
// closed.
func (cl *Client) spawn(f func()) bool {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.closed.Load() {
		return false
	}
	cl.wg.Go(f)
	return true
}

// Close interrupts every call, which then returns [ErrClosed], closes all
// connections and gives all resources back before it returns. The loads of
// [Client.GetOrLoad] come first: they are cancelled, and have a second to give their
// claims back or to store what they have. It may be called more than once and from
// many goroutines. Its error is always nil, except for a nil client.
func (cl *Client) Close() error {
	if cl == nil || cl.engines == nil {
		return ErrNilClient
	}
	loads := cl.loads.close()
	cl.mu.Lock()
	cl.closed.Store(true)
	cl.mu.Unlock()
	cl.cancel()
	var errs []error
	for _, e := range cl.engines {
		errs = append(errs, e.Close())
	}
	cl.wg.Wait()
	<-loads
	if q := cl.lender.ward; q != nil {
		q.clear()
	}
	return errors.Join(errs...)
}

// server returns the server that a key belongs to, as it is stored there.
func (cl *Client) server(key string) (*server, error) {
	if len(cl.servers) == 1 && cl.cfg.Selector == nil {
		return cl.servers[0], nil
	}
	i := cl.selector.Pick(key)
	if i < 0 || i >= len(cl.servers) {
		return nil, fmt.Errorf("%w: Selector returned %d for %d servers", ErrConfig, i, len(cl.servers))
	}
	return cl.servers[i], nil
}

// failure makes an error of an error line of the server.
func failure(line []byte) error {
	switch s := string(line); {
	case strings.HasPrefix(s, "SERVER_ERROR object too large"):
		return ErrTooLarge
	case strings.Contains(s, "non-numeric value"):
		return ErrNotNumber
	default:
		return &ServerError{Line: s}
	}
}
