package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

const (
	keysPerRound  = 480
	largeEvery    = 48 // one key in so many has large values
	tabsPerRound  = 8
	multiKeys     = 40
	loadOpTimeout = time.Second
)

// load is many goroutines that call one client and check what they are told.
type load struct {
	cl     *client.Client
	round  uint64
	keys   []string
	pages  []*page
	tabs   []*tab
	think  time.Duration // between two calls of a goroutine, on average
	gate   gate
	tally  *tally
	stalls stalls
	stop   atomic.Bool
	watch  []watched
	index  map[string]int                  // of each key
	wrong  func(op, key string, err error) // told of each wrong answer
	odd    func(op string, err error)      // told of each error that should not be

}

// watched is what the watchdog sees of a goroutine: when its call should have ended, or 0.
type watched struct {
	due atomic.Int64
	_   [56]byte // a cache line each
}

func newLoad(p plan, t *tally) *load {
	l := &load{round: p.seed, think: p.think, tally: t, watch: make([]watched, p.callers), index: make(map[string]int)}
	lossy := p.fault.lossy
	for i := range keysPerRound {
		l.keys = append(l.keys, fmt.Sprintf("torture:%d:%d", p.seed, i))
		l.index[l.keys[i]] = i
		l.pages = append(l.pages, newPage(lossy))
	}
	for range tabsPerRound {
		l.tabs = append(l.tabs, &tab{lossy: lossy})
	}
	l.gate.open()
	return l
}

// start runs the callers; the returned channel is closed when all have ended.
func (l *load) start() <-chan struct{} {
	var wg sync.WaitGroup
	for i := range l.watch {
		wg.Go(func() {
			c := &caller{load: l, watch: &l.watch[i], r: rand.New(rand.NewPCG(l.round, uint64(i)))}
			for !l.stop.Load() {
				l.gate.pass()
				c.call()
				if i%64 != 0 { // some never rest
					time.Sleep(time.Duration(c.r.Int64N(int64(2*l.think) + 1)))
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	return done
}

// overdue returns by how much the most overdue call is.
func (l *load) overdue() time.Duration {
	worst, t := int64(0), now()
	for i := range l.watch {
		if due := l.watch[i].due.Load(); due != 0 {
			worst = max(worst, t-due)
		}
	}
	return time.Duration(worst)
}

// gate lets callers through while it is open.
type gate struct {
	mu sync.Mutex
	ch chan struct{} // closed if the gate is open
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ch == nil {
		g.ch = make(chan struct{})
	}
	select {
	case <-g.ch:
	default:
		close(g.ch)
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ch = make(chan struct{})
}

func (g *gate) pass() {
	g.mu.Lock()
	ch := g.ch
	g.mu.Unlock()
	<-ch
}

// caller is one goroutine of the load.
type caller struct {
	*load
	watch *watched
	r     *rand.Rand

	ctx   context.Context
	begun int64 // this call
	limit int64 // the context's deadline, or never
	due   int64 // when this call must have ended
	buf   []byte
	value []byte
}

// call makes one call with a random bound.
func (c *caller) call() {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	canceled := new(atomic.Int64)
	c.limit = never
	switch n := c.r.IntN(100); {
	case n < 40: // mostly too short, in a bad hour
		d := shortPatience(c.r)
		ctx, cancel = context.WithTimeout(ctx, d)
		c.limit = now() + int64(d)
	case n < 80:
		d := between(c.r, 50*ms, 500*ms)
		ctx, cancel = context.WithTimeout(ctx, d)
		c.limit = now() + int64(d)
	case n < 90:
		ctx, cancel = context.WithCancel(ctx)
		stop := cancel
		t := time.AfterFunc(between(c.r, 0, 50*ms), func() {
			canceled.CompareAndSwap(0, now())
			stop()
		})
		cancel = func() { t.Stop(); stop() }
	}
	c.ctx = ctx
	c.begin()
	c.operation()
	ended := now()
	c.watch.due.Store(0)
	due := c.due
	if at := canceled.Swap(never); at != 0 && at < due {
		due = at
	}
	if ended > due {
		c.tally.late.add(time.Duration(ended - due))
		c.stalls.callWasLate(due, ended)
	}
	cancel()
}

// begin notes that a call is made.
func (c *caller) begin() {
	c.tally.ops.Add(1)
	c.begun = now()
	c.due = min(c.limit, c.begun+int64(loadOpTimeout))
	c.watch.due.Store(c.due)
}

func (c *caller) operation() {
	i := c.r.IntN(len(c.keys))
	switch n := c.r.IntN(100); {
	case n < 45:
		it, err := c.cl.Get(c.ctx, c.keys[i])
		c.read("get", i, it.Value, it.Flags, err)
	case n < 60:
		prefix := min(c.r.IntN(64), len(filling))
		dst, it, err := c.cl.GetAppend(c.ctx, append(c.buf[:0], filling[:prefix]...), c.keys[i])
		c.buf = dst
		if len(dst) < prefix || string(dst[:prefix]) != string(filling[:prefix]) {
			c.tell("getappend", c.keys[i], errors.New("what stood in dst before is damaged"))
			return
		}
		c.read("getappend", i, dst[prefix:], it.Flags, err)
	case n < 64:
		it, err := c.cl.GetAndTouch(c.ctx, c.keys[i], 0)
		c.read("gat", i, it.Value, it.Flags, err)
	case n < 74:
		c.readMany()
	case n < 90:
		c.write("set", i, 0, c.cl.Set)
	case n < 92:
		c.write("add", i, 0, c.cl.Add)
	case n < 94:
		c.write("replace", i, 0, c.cl.Replace)
	case n < 96:
		it, err := c.cl.Get(c.ctx, c.keys[i])
		c.read("get", i, it.Value, it.Flags, err)
		if err == nil {
			c.begin()
			c.write("compare and swap", i, it.CAS, c.cl.CompareAndSwap)
		}
	case n < 98:
		version := c.pages[i].begin("delete", true)
		err := c.cl.Delete(c.ctx, c.keys[i])
		if errors.Is(err, client.ErrNotFound) {
			c.check("delete", i, c.pages[i].sawNothing(c.begun))
		}
		c.wrote("delete", i, version, err)
	case n < 99:
		if err := c.cl.Touch(c.ctx, c.keys[i], 0); errors.Is(err, client.ErrNotFound) {
			c.check("touch", i, c.pages[i].sawNothing(c.begun))
		} else {
			c.classify("touch", err)
		}
	default:
		c.increment()
	}
}

// read checks the result of reading key i.
func (c *caller) read(op string, i int, value []byte, flags uint32, err error) {
	switch {
	case err == nil:
		c.tally.gets.Add(1)
		version, err := readValue(value, flags, c.round, c.keys[i])
		if err == nil {
			err = c.pages[i].saw(version, c.begun, now())
		}
		c.check(op, i, err)
	case errors.Is(err, client.ErrNotFound):
		c.tally.gets.Add(1)
		c.check(op, i, c.pages[i].sawNothing(c.begun))
	default:
		c.classify(op, err)
	}
}

// readMany checks a GetMulti: what it returns, and what it says there is not.
func (c *caller) readMany() {
	first, n := c.r.IntN(len(c.keys)), 1+c.r.IntN(multiKeys)
	open := make(map[string]int, n)
	keys := make([]string, 0, n)
	for k := range n {
		i := (first + k*7) % len(c.keys)
		if _, twice := open[c.keys[i]]; !twice {
			keys = append(keys, c.keys[i])
			open[c.keys[i]] = i
		}
	}
	leave := -1
	if c.r.IntN(10) == 0 {
		leave = c.r.IntN(n)
	}
	for it, err := range c.cl.GetMulti(c.ctx, keys) {
		var op *client.OpError
		switch {
		case err == nil:
			i, asked := open[it.Key]
			if !asked {
				c.tell("getmulti", it.Key, errors.New("the key was not asked for, or came twice"))
				return
			}
			delete(open, it.Key)
			c.read("getmulti", i, it.Value, it.Flags, nil)
		case errors.As(err, &op):
			for _, k := range op.Keys {
				if _, asked := open[k]; !asked {
					c.tell("getmulti", k, errors.New("an error for a key that has come or was not asked for"))
				}
				delete(open, k)
			}
			c.classify("getmulti", err)
		default:
			c.classify("getmulti", err)
			return
		}
		if leave--; leave == 0 {
			return
		}
	}
	for _, i := range open {
		c.read("getmulti", i, nil, 0, client.ErrNotFound)
	}
}

// write stores a new version of key i.
func (c *caller) write(op string, i int, cas uint64, store func(context.Context, client.Item, ...client.StoreOptions) error) {
	size := 30 + c.r.IntN(1<<(5+c.r.IntN(7)))
	if i%largeEvery == 0 {
		size = c.r.IntN(maxValue)
	}
	version := c.pages[i].begin(op, false)
	c.value = makeValue(c.value, c.round, c.keys[i], version, size)
	err := store(c.ctx, client.Item{Key: c.keys[i], Value: c.value, Flags: flagsOf(version), CAS: cas})
	c.wrote(op, i, version, err)
}

// wrote notes how a write of key i has ended.
func (c *caller) wrote(op string, i int, version uint64, err error) {
	how := unknown
	var e *client.OpError
	switch {
	case err == nil:
		how = landed
	case errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrNotStored), errors.Is(err, client.ErrConflict):
		how = refused
	case errors.Is(err, client.ErrServer):
		c.pages[i].mayVanish() // memcached drops the old item where it has no room for the new one
		c.classify(op, err)
	default:
		if errors.As(err, &e) && e.Outcome == client.NotSent {
			how = refused
		}
		c.classify(op, err)
	}
	c.check(op, i, c.pages[i].end(version, how))
}

// lateWrite is for the client to call.
func (l *load) lateWrite(w client.LateWrite) {
	l.tally.lateWrites.Add(1)
	i, ok := l.index[w.Key]
	if !ok || w.Op == "touch" {
		return // a tab, of which nothing but the sum is known
	}
	how := refused
	switch e, isOp := errors.AsType[*client.OpError](w.Err); {
	case w.Err == nil:
		how = landed
	case errors.Is(w.Err, client.ErrServer), isOp && e.Outcome == client.Unknown:
		how = unknown
	}
	if err := l.pages[i].late(w.Op, how); err != nil {
		l.tell("late "+w.Op, w.Key, err)
	}
}

func (c *caller) increment() {
	i := c.r.IntN(len(c.tabs))
	before := c.tabs[i].begin()
	sum, err := c.cl.Increment(c.ctx, fmt.Sprintf("tab:%d:%d", c.round, i), 1, &client.Counter{Value: 1})
	if err != nil {
		c.classify("incr", err)
		return
	}
	if err := c.tabs[i].end(sum, before); err != nil {
		c.tell("incr", fmt.Sprintf("tab %d", i), err)
	}
}

func (c *caller) check(op string, i int, err error) {
	if err != nil {
		c.tell(op, c.keys[i], err)
	}
}

func (l *load) tell(op, key string, err error) {
	l.tally.wrong.Add(1)
	l.wrong(op, key, err)
}
