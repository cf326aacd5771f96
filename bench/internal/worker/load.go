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
	watch   *watch        // nil unless the case has ticks
	idleCPU time.Duration // CPU time when the last slice ended
}

func newLoad(spec Spec, client peers.Client) (*load, error) {
	l := &load{spec: spec, client: client, rec: newRecorder(sliceDigits), blocks: make([]block, spec.Case.Callers)}
	shared := newData(spec.Case)
	what := spec.Case.OpOf(spec.Client)
	if what == cases.GetTyped || what == cases.SetTyped {
		t, ok := client.(peers.Typer)
		if !ok {
			return nil, errors.New("this client's values have no type")
		}
		if err := t.Prepare(shared.keys, spec.Case.Size); err != nil {
			return nil, err
		}
	}
	for i := range l.blocks {
		l.blocks[i].to = l.rec
		op, err := operation(spec.Case, what, client, shared, i*keyStride)
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
	if c.Op == cases.HandOver {
		return d
	}
	for i := range cases.KeyCount(c.Size) {
		if !c.Writes() {
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
func operation(c cases.Case, what cases.Op, client peers.Client, shared *data, start int) (func() error, error) {
	if what == cases.HandOver {
		h, ok := client.(peers.HandOverer)
		if !ok {
			return nil, errors.New("this client hands nothing over")
		}
		return func() error { h.HandOver(); return nil }, nil
	}
	keys := shared.keys
	at := start % len(keys)
	next := func() string {
		if at++; at == len(keys) {
			at = 0
		}
		return keys[at]
	}
	wrong := func(key string) error { return &peers.WrongValueError{Client: "the client", Key: key} }
	right := func(key string, value []byte) bool { return cases.Right(value, key, c.Size) }
	appender, appends := client.(peers.Appender)
	lender, lends := client.(peers.Lender)
	if what == cases.GetReused {
		if what = cases.Get; appends {
			what = cases.GetAppend
		}
	}
	switch what {
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
		if !appends {
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
	case cases.GetLease:
		if !lends {
			return nil, errors.New("this client has no GetLease")
		}
		return func() error { return lender.GetLease(next(), right) }, nil
	case cases.Set:
		return func() error {
			key := next()
			return client.Set(key, shared.values[at])
		}, nil
	case cases.GetTyped, cases.SetTyped:
		do := client.(peers.Typer).GetTyped
		if what == cases.SetTyped {
			do = client.(peers.Typer).SetTyped
		}
		return func() error { next(); return do(at) }, nil
	case cases.SetMulti, cases.SetDelete, cases.SetLoop, cases.LoopBoth:
		return batch(c, what, client, shared)
	case cases.MultiGet, cases.MultiLent:
		getMulti := client.GetMulti
		if what == cases.MultiLent && lends {
			getMulti = lender.GetMultiLease
		}
		from := at
		return func() error {
			if from+c.Keys > len(keys) {
				from = 0
			}
			group := keys[from : from+c.Keys]
			from += c.Keys
			return getMulti(group, right)
		}, nil
	}
	return nil, fmt.Errorf("there is no operation %q", what)
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
		gate          = make(chan struct{})
		shift         = &shift{d: cmd.Slice}
		ready, done   sync.WaitGroup
		total, failed atomic.Uint64
		failure       error
		fail          sync.Once
		by            *bystander
		ticks         *series
	)
	end := func(err error) {
		if err != nil {
			shift.stop.Store(true)
			fail.Do(func() { failure = err })
		}
	}
	if l.spec.Case.Tick > 0 {
		ticks = newSeries(l.spec.Case.Tick, cmd.Slice)
	}
	for i := range l.ops {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			var n, bad uint64
			var err error
			if ticks != nil || l.spec.Case.Rate > 0 {
				n, bad, err = l.follow(i, shift, ticks)
			} else {
				n, bad, err = l.call(i, shift)
			}
			total.Add(n)
			failed.Add(bad)
			end(err)
		})
	}
	if l.spec.Case.Beside > 0 {
		ready.Add(1)
		done.Go(func() { ready.Done(); <-gate; end(l.beside(shift)) })
	}
	if l.spec.Case.Bystander {
		by = newBystander()
		ready.Add(1)
		done.Go(func() { ready.Done(); <-gate; by.run(shift.begin, cmd.Slice) })
	}
	if ticks != nil {
		ready.Add(1)
		done.Go(func() { ready.Done(); <-gate; end(l.watch.run(ticks, shift.begin, l.spec.Case.Faults)) })
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
	shift.begin = time.Now()
	close(gate)
	done.Wait()
	sample.Wall = time.Since(shift.begin)
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

	sample.Ops, sample.Errors = total.Load(), failed.Load()
	if ticks != nil {
		sample.Ticks = ticks.ticks()
	}
	sample.CPU = after.cpu - before.cpu
	sample.Mallocs = after.mallocs - before.mallocs
	sample.Enters, sample.HasEnters = after.enters-before.enters, after.hasEnters
	sample.P50, sample.P99, sample.P999 = l.rec.quantile(50), l.rec.quantile(99), l.rec.quantile(99.9)
	sample.Max = l.longest()
	if by != nil {
		sample.LateP50, sample.LateP99, sample.LateMax = by.late.quantile(50), by.late.quantile(99), by.late.quantile(100)
		sample.Wakes = by.wakes
	}
	l.idleCPU, err = cpuTime()
	return sample, err
}

// longest is the slice's slowest call. One that was due before its caller was free counts from when it was
// made: waiting for one's turn is no sign of a client that hangs.
func (l *load) longest() time.Duration {
	if l.spec.Case.Rate == 0 {
		return l.rec.quantile(100)
	}
	var d time.Duration
	for i := range l.blocks {
		d = max(d, l.blocks[i].longest)
	}
	return d
}
