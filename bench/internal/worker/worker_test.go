package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/standin"
)

// fake answers at once, rightly unless wrong is set.
type fake struct {
	size  int
	wrong bool
}

func (f fake) Get(key string) ([]byte, error) {
	if f.wrong {
		key = "other"
	}
	return cases.AppendValue(nil, key, f.size), nil
}
func (f fake) GetAppend(dst []byte, key string) ([]byte, error) {
	return cases.AppendValue(dst, key, f.size), nil
}
func (f fake) Set(string, []byte) error { return nil }
func (f fake) GetMulti(keys []string, right func(string, []byte) bool) error {
	for _, k := range keys {
		if v, _ := f.Get(k); !right(k, v) {
			return errors.New("wrong")
		}
	}
	return nil
}
func (f fake) Close() error   { return nil }
func (f fake) Enters() uint64 { return 0 }

func run(t *testing.T, c cases.Case, f fake) (Sample, error) {
	t.Helper()
	l, err := newLoad(Spec{Case: c}, f)
	require.NoError(t, err)
	return l.slice(Command{Slice: 5 * time.Millisecond})
}

func TestSliceOfEveryOperation(t *testing.T) {
	for _, op := range []cases.Op{cases.Get, cases.GetAppend, cases.GetReused, cases.Set, cases.MultiGet, cases.MultiLent} {
		s, err := run(t, cases.Case{Op: op, Callers: 3, Size: 100, Keys: 40}, fake{size: 100})
		require.NoError(t, err)
		require.GreaterOrEqual(t, s.Ops, uint64(3), "each caller does at least one")
		require.GreaterOrEqual(t, s.Wall, 5*time.Millisecond)
		require.Positive(t, s.CPU)
		require.Positive(t, s.P50)
		require.LessOrEqual(t, s.P50, s.P99)
		require.LessOrEqual(t, s.P99, s.P999)
		require.True(t, s.HasEnters)
		require.False(t, s.Counted)
	}
}

// lending counts what it lends.
type lending struct {
	fake
	lent *int
}

func (f lending) GetLease(key string, right func(string, []byte) bool) error {
	return f.GetMultiLease([]string{key}, right)
}

func (f lending) GetMultiLease(keys []string, right func(string, []byte) bool) error {
	*f.lent += len(keys)
	return f.GetMulti(keys, right)
}

func TestWhoLends(t *testing.T) {
	for _, c := range []struct {
		op     cases.Op
		client cases.Client
		each   int // values that an operation lends
	}{
		{cases.Get, cases.URing, 0}, {cases.Get, cases.URingLease, 1}, {cases.GetReused, cases.URing, 0},
		{cases.MultiGet, cases.URing, 0}, {cases.MultiLent, cases.URing, 40},
	} {
		lent := 0
		l, err := newLoad(Spec{Case: cases.Case{Op: c.op, Callers: 1, Size: 100, Keys: 40}, Client: c.client}, lending{fake{size: 100}, &lent})
		require.NoError(t, err)
		require.NoError(t, l.ops[0]())
		require.Equal(t, c.each, lent, "%s in %s", c.client, c.op)
	}
	_, err := newLoad(Spec{Case: cases.Case{Op: cases.Get, Callers: 1, Size: 100}, Client: cases.URingLease}, fake{size: 100})
	require.ErrorContains(t, err, "no GetLease")
}

// typer notes what is done with which key.
type typer struct {
	fake
	did *[]string
}

func (f typer) Prepare(keys []string, size int) error {
	*f.did = append(*f.did, fmt.Sprintf("%d keys from %s on of %d bytes", len(keys), keys[0], size))
	return nil
}

func (f typer) GetTyped(i int) error { *f.did = append(*f.did, fmt.Sprint("get ", i)); return nil }
func (f typer) SetTyped(i int) error { *f.did = append(*f.did, fmt.Sprint("set ", i)); return nil }

func TestTyped(t *testing.T) {
	for op, want := range map[cases.Op][]string{
		cases.Get: {"1000 keys from get100:000000 on of 100 bytes", "get 1", "get 2"},
		cases.Set: {"1000 keys from set100:000000 on of 100 bytes", "set 1", "set 2"},
	} {
		c := cases.Case{Op: op, Callers: 1, Size: 100}
		var did []string
		l, err := newLoad(Spec{Case: c, Client: cases.URingTypedJSON}, typer{fake{size: 100}, &did})
		require.NoError(t, err)
		require.NoError(t, l.ops[0]())
		require.NoError(t, l.ops[0]())
		require.Equal(t, want, did)
		_, err = newLoad(Spec{Case: c, Client: cases.URingTypedGzip}, fake{size: 100})
		require.ErrorContains(t, err, "no type")
	}
}

// TestOwnAllocations: what the loop around the client allocates must not be charged to the client.
func TestOwnAllocations(t *testing.T) {
	for _, op := range []cases.Op{cases.GetAppend, cases.Set} {
		s, err := run(t, cases.Case{Op: op, Callers: 1, Size: 100}, fake{size: 100})
		require.NoError(t, err)
		require.Less(t, float64(s.Mallocs)/float64(s.Ops), 0.05, op)
	}
}

func TestWrongValueEndsTheSlice(t *testing.T) {
	_, err := run(t, cases.Case{Op: cases.Get, Callers: 2, Size: 100}, fake{size: 100, wrong: true})
	require.ErrorContains(t, err, "wrong value")
}

func TestBystanderIsTimed(t *testing.T) {
	l, err := newLoad(Spec{Case: cases.Case{Op: cases.Set, Callers: 1, Size: 100, Bystander: true}}, fake{})
	require.NoError(t, err)
	s, err := l.slice(Command{Slice: 30 * time.Millisecond})
	require.NoError(t, err)
	require.Positive(t, s.Wakes)
	require.LessOrEqual(t, s.LateP50, s.LateMax)
}

func TestRecorder(t *testing.T) {
	r := newRecorder(sliceDigits)
	b := block{to: r}
	emptied := 0
	for i := range 2*blockOps + 10 {
		if b.add(time.Duration(i%100+1) * time.Microsecond) {
			emptied++
		}
	}
	b.drain()
	require.Equal(t, 2, emptied)
	require.EqualValues(t, 2*blockOps+10, r.hist.TotalCount())
	require.InDelta(t, 50, r.quantile(50).Microseconds(), 3)
	b.add(time.Hour) // beyond the histogram's range: counted at its end
	b.drain()
	require.GreaterOrEqual(t, r.quantile(100), 4*time.Second)
}

// TestRun speaks the driver's part against a real client and the stand-in.
func TestRun(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	go func() { _ = standin.NewServer(standin.Options{Size: 64}).Serve(l) }() // ends with the listener

	in, commands := io.Pipe()
	replies, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(in, out) }()
	send, get := json.NewEncoder(commands), json.NewDecoder(replies)
	ask := func(what any) (r Reply) {
		require.NoError(t, send.Encode(what))
		require.NoError(t, get.Decode(&r))
		return r
	}
	c := cases.Case{Name: "c", Network: "unix", Op: cases.Get, Callers: 2, Size: 64}
	require.Equal(t, Reply{}, ask(Spec{Case: c, Client: cases.GoMemcache, Addr: l.Addr().String()}))
	r := ask(Command{Slice: 5 * time.Millisecond})
	require.Empty(t, r.Error)
	require.Positive(t, r.Sample.Ops)
	require.NoError(t, commands.Close())
	require.NoError(t, <-ended, "a worker ends with its input")
}
