package worker

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
)

// load is one case driven through one client.
type load struct {
	spec    Spec
	client  peers.Client
	ops     []func() error // one per caller: does its next operation and checks the result
	blocks  []block
	rec     *recorder
	idleCPU time.Duration // CPU time when the last slice ended
}

func newLoad(spec Spec, client peers.Client) (*load, error) {
	l := &load{spec: spec, client: client, rec: newRecorder(), blocks: make([]block, spec.Case.Callers)}
	shared := newData(spec.Case)
	for i := range l.blocks {
		l.blocks[i].to = l.rec
		op, err := operation(spec.Case, client, shared, i*keyStride)
		if err != nil {
			return nil, err
		}
		l.ops = append(l.ops, op)
	}
	return l, nil
}

// keyStride spreads the callers over the keys.
const keyStride = 37

// data is what the callers ask for and store. They share it: a set each would not fit the caches.
type data struct {
	keys   []string
	values [][]byte // for sets
}

func newData(c cases.Case) *data {
	d := &data{}
	for i := range cases.KeyCount {
		if c.Op != cases.Set {
			d.keys = append(d.keys, cases.Key(c.Size, i))
			continue
		}
		key := cases.WriteKey(c.Size, i)
		d.keys = append(d.keys, key)
		d.values = append(d.values, cases.AppendValue(nil, key, c.Size))
	}
	return d
}

// operation builds what one caller does, again and again, walking through the keys from the one at
// start. Nothing in it allocates but the client.
func operation(c cases.Case, client peers.Client, shared *data, start int) (func() error, error) {
	keys := shared.keys
	at := start % len(keys)
	next := func() string {
		if at++; at == len(keys) {
			at = 0
		}
		return keys[at]
	}
	wrong := func(key string) error { return &peers.WrongValueError{Client: "the client", Key: key} }
	switch c.Op {
	case cases.Get:
		return func() error {
			key := next()
			value, err := client.Get(key)
			if err == nil && !cases.Right(value, key, c.Size) {
				return wrong(key)
			}
			return err
		}, nil
	case cases.GetAppend:
		appender, ok := client.(peers.Appender)
		if !ok {
			return nil, errors.New("this client has no GetAppend")
		}
		buf := make([]byte, 0, c.Size)
		return func() error {
			key := next()
			value, err := appender.GetAppend(buf[:0], key)
			if err == nil && !cases.Right(value, key, c.Size) {
				return wrong(key)
			}
			return err
		}, nil
	case cases.Set:
		return func() error {
			key := next()
			return client.Set(key, shared.values[at])
		}, nil
	case cases.MultiGet:
		right := func(key string, value []byte) bool { return cases.Right(value, key, c.Size) }
		from := at
		return func() error {
			if from+c.Keys > len(keys) {
				from = 0
			}
			group := keys[from : from+c.Keys]
			from += c.Keys
			return client.GetMulti(group, right)
		}, nil
	}
	return nil, fmt.Errorf("there is no operation %q", c.Op)
}

// slice lets every caller run for d and says what that took.
func (l *load) slice(cmd Command) (Sample, error) {
	cpuNow, err := cpuTime()
	if err != nil {
		return Sample{}, err
	}
	sample := Sample{IdleCPU: cpuNow - l.idleCPU}
	if l.idleCPU == 0 {
		sample.IdleCPU = 0
	}
	runtime.GC() // each slice begins with the same heap
	l.rec.reset()

	var (
		gate        = make(chan struct{})
		begin       time.Time
		ready, done sync.WaitGroup
		total       atomic.Uint64
		stop        atomic.Bool
		failure     error
		fail        sync.Once
		watch       *bystander
	)
	for i := range l.ops {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			n, err := l.call(i, begin, cmd.Slice, &stop)
			total.Add(n)
			if err != nil {
				stop.Store(true)
				fail.Do(func() { failure = err })
			}
		})
	}
	if l.spec.Case.Bystander {
		watch = newBystander()
		ready.Add(1)
		done.Go(func() { ready.Done(); <-gate; watch.run(begin, cmd.Slice) })
	}
	ready.Wait()

	var counter *syscallCounter
	if cmd.Count {
		if counter, err = openCounter(l.spec.Tracepoint); err != nil {
			sample.CountFailed = err.Error()
		}
	}
	before, err := readMeters(l.client)
	if err != nil {
		return Sample{}, err
	}
	begin = time.Now()
	close(gate)
	done.Wait()
	sample.Wall = time.Since(begin)
	after, err := readMeters(l.client)
	if err != nil {
		return Sample{}, err
	}
	if counter != nil {
		if sample.Syscalls, err = counter.close(); err != nil {
			sample.CountFailed = err.Error()
		}
		sample.Counted = err == nil
	}
	if failure != nil {
		return Sample{}, failure
	}

	sample.Ops = total.Load()
	sample.CPU = after.cpu - before.cpu
	sample.Mallocs = after.mallocs - before.mallocs
	sample.Enters, sample.HasEnters = after.enters-before.enters, after.hasEnters
	sample.P50, sample.P99, sample.P999 = l.rec.quantile(50), l.rec.quantile(99), l.rec.quantile(99.9)
	sample.Max = l.rec.quantile(100)
	if watch != nil {
		sample.LateP50, sample.LateP99, sample.LateMax = watch.late.quantile(50), watch.late.quantile(99), watch.late.quantile(100)
		sample.Wakes = watch.wakes
	}
	l.idleCPU, err = cpuTime()
	return sample, err
}

// call is one caller's share of a slice. It reads the clock once an operation: the end of one is the
// beginning of the next.
func (l *load) call(i int, begin time.Time, d time.Duration, stop *atomic.Bool) (uint64, error) {
	op, b := l.ops[i], &l.blocks[i]
	defer b.drain()
	now := time.Now()
	for n := uint64(0); ; {
		if err := op(); err != nil {
			return n, err
		}
		n++
		end := time.Now()
		emptied := b.add(end.Sub(now))
		if end.Sub(begin) >= d || stop.Load() {
			return n, nil
		}
		if now = end; emptied {
			now = time.Now()
		}
	}
}
