package reader

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a slot and writes down what it is told, with a value's chunks
// joined, so that the record does not depend on where the windows ended.
type recorder struct {
	expect Expect
	log    *[]string
	id     int
	left   int // bytes that the value in hand still lacks
	value  []byte
	done   bool
	quiet  bool // a tombstone: checks the order of calls, records nothing
}

func (r *recorder) Expect() *Expect { return &r.expect }

func (r *recorder) Value(it *Item) {
	r.check("Value")
	r.say("value %s", itemText(it))
	r.left, r.value = it.Size, nil
}

func (r *recorder) Chunk(p []byte) {
	if len(p) == 0 || len(p) > r.left {
		panic(fmt.Sprintf("chunk of %d bytes where %d are left", len(p), r.left))
	}
	r.left -= len(p)
	r.value = append(r.value, p...)
	if r.left == 0 {
		r.say("data %q", r.value)
	}
}

func (r *recorder) Stat(name, value []byte) {
	r.check("Stat")
	r.say("stat %q %q", name, value)
}

func (r *recorder) Answer(i int, res *Result) {
	r.check("Answer")
	r.say("answer %d %d %q %s", i, res.Status, res.Line, itemText(&res.Item))
}

func (r *recorder) Done(res *Result) {
	r.check("Done")
	r.done = true
	r.say("done %d %q %s", res.Status, res.Line, itemText(&res.Item))
}

func (r *recorder) check(call string) {
	if r.done || r.left != 0 {
		panic(call + " out of order")
	}
}

func (r *recorder) say(format string, args ...any) {
	if r.quiet {
		return
	}
	*r.log = append(*r.log, fmt.Sprintf("%d: ", r.id)+fmt.Sprintf(format, args...))
}

// itemText shows the fields that are set.
func itemText(it *Item) string {
	s := ""
	if it.Key != nil {
		s += fmt.Sprintf("k%s ", it.Key)
	}
	s += fmt.Sprintf("n%d f%d c%d", it.Size, it.Flags, it.CAS)
	if it.HasTTL {
		s += fmt.Sprintf(" t%d", it.TTL)
	}
	if it.Idle != 0 {
		s += fmt.Sprintf(" l%d", it.Idle)
	}
	if it.Index > 0 {
		s += fmt.Sprintf(" #%d", it.Index)
	}
	for _, f := range []struct {
		set  bool
		name string
	}{{it.Fetched, " h1"}, {it.Won, " W"}, {it.Stale, " X"}, {it.Leased, " Z"}} {
		if f.set {
			s += f.name
		}
	}
	if it.Raw != nil {
		s += fmt.Sprintf(" raw%q", it.Raw)
	}
	return s
}

// fifo is a Queue which counts.
type fifo struct {
	slots []Slot
	next  int
}

func (f *fifo) Next() Slot {
	if f.next == len(f.slots) {
		return nil
	}
	f.next++
	return f.slots[f.next-1]
}

// outcome is all that a stream led to.
type outcome struct {
	log    []string
	used   int
	err    string
	taken  int // slots taken from the queue
	begun  bool
	inside int // ValueLeft at the end
}

// newFIFO makes a recorder for each Expect; those in tombs are tombstones.
func newFIFO(expects []Expect, log *[]string, tombs map[int]bool) *fifo {
	f := &fifo{}
	for i, e := range expects {
		f.slots = append(f.slots, &recorder{expect: e, log: log, id: i, quiet: tombs[i]})
	}
	return f
}

// feed presents stream in pieces that end at the given positions, the way a
// connection does. Each window is overwritten as soon as Parse has returned.
func feed(t testing.TB, expects []Expect, stream []byte, tombs map[int]bool, ends ...int) outcome {
	t.Helper()
	var o outcome
	var p Parser
	q := newFIFO(expects, &o.log, tombs)
	var kept []byte
	from := 0
	for _, end := range append(ends, len(stream)) {
		window := append(bytes.Clone(kept), stream[from:end]...)
		from = end
		used, err := p.Parse(window, q)
		if used < 0 || used > len(window) {
			t.Fatalf("used %d of %d bytes", used, len(window))
		}
		o.used += used
		kept = bytes.Clone(window[used:])
		for i := range window {
			window[i] = '#'
		}
		if err != nil {
			checkPoison(t, &p, q, err)
			o.err = err.Error()
			break
		}
		checkKept(t, &p, kept)
	}
	o.taken, o.begun, o.inside = q.next, p.Slot() != nil, p.ValueLeft()
	return o
}

// checkKept: only a partial line, or half a CR LF, may stay in the window.
func checkKept(t testing.TB, p *Parser, kept []byte) {
	t.Helper()
	switch {
	case len(kept) == 0:
	case p.state == stateEnd:
		require.Equal(t, "\r", string(kept))
	default:
		require.Equal(t, stateLine, p.state, "a value stayed in the window")
		require.Less(t, len(kept), MaxLine)
		require.NotContains(t, string(kept), "\n")
	}
}

// checkPoison: poison is typed and stays.
func checkPoison(t testing.TB, p *Parser, q *fifo, err error) {
	t.Helper()
	var d *DesyncError
	require.ErrorAs(t, err, &d)
	require.True(t, errors.Is(err, ErrDesync))
	require.NotEmpty(t, d.Reason)
	taken := q.next
	used, again := p.Parse([]byte("HD\r\n"), q)
	require.Zero(t, used)
	require.Same(t, err, again)
	require.Same(t, err, p.Landed(1))
	require.Equal(t, taken, q.next)
}

// everywhere feeds stream whole, split in two at each position, and byte by
// byte, and wants the same outcome each time.
func everywhere(t *testing.T, expects []Expect, stream []byte) outcome {
	t.Helper()
	whole := feed(t, expects, stream, nil)
	var each []int
	for i := range stream {
		each = append(each, i)
		require.Equal(t, whole, feed(t, expects, stream, nil, i), "split at %d", i)
	}
	require.Equal(t, whole, feed(t, expects, stream, nil, each...), "byte by byte")
	return whole
}
