package client

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/reader"
)

// A run that has had these replies knows of its keys what the text says: ok, miss,
// no (an error line of its own), ? (one of several that an error line can be about),
// - (no answer).
func TestRunErrors(t *testing.T) {
	busy := func(i int) func(*run) {
		return func(r *run) { r.answer(i, &reader.Result{Status: reader.Failed, Line: []byte("SERVER_ERROR busy")}) }
	}
	answer := func(i int, s reader.Status) func(*run) {
		return func(r *run) { r.answer(i, &reader.Result{Status: s}) }
	}
	end := (*run).end
	srv := &server{name: "s"}
	for v := range srv.misses {
		srv.misses[v] = &OpError{Op: verb(v).String(), Server: "s", Err: ErrNotFound}
	}
	for _, c := range []struct {
		name    string
		quiet   bool
		replies []func(*run)
		want    string
	}{
		{"all nominal", true, []func(*run){end}, "ok ok ok ok ok"},
		{"misses", true, []func(*run){answer(1, reader.NotFound), answer(4, reader.NotFound), end}, "ok miss ok ok miss"},
		{"not ended", true, []func(*run){answer(2, reader.NotFound)}, "ok ok miss - -"},
		{"an error between two misses", true, []func(*run){answer(0, reader.NotFound), busy(1), answer(2, reader.NotFound), end}, "miss no miss ok ok"},
		{"an error and a hidden answer", true, []func(*run){busy(0), answer(2, reader.NotFound), end}, "? ? miss ok ok"},
		{"errors for all", true, []func(*run){busy(0), busy(0), busy(0), busy(0), busy(0), end}, "no no no no no"},
		{"errors for all but one", true, []func(*run){busy(0), busy(0), busy(0), busy(0), end}, "? ? ? ? no"},
		{"an error for the last one", true, []func(*run){busy(0), end}, "ok ok ok ok no"},
		{"an error for the last one alone", true, []func(*run){answer(3, reader.NotFound), busy(4), end}, "ok ok ok miss no"},
		{"errors at the end", true, []func(*run){answer(2, reader.OK), busy(3), busy(3), end}, "ok ok ok no no"},
		{"an error that nothing follows", true, []func(*run){answer(2, reader.NotFound), busy(3)}, "ok ok miss - -"},
		{"loud", false, []func(*run){answer(0, reader.OK), busy(1), answer(2, reader.Miss), busy(3), answer(4, reader.OK), end}, "ok no miss no ok"},
		{"loud, not ended", false, []func(*run){answer(0, reader.OK), busy(1)}, "ok no - - -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &run{keys: []string{"a", "b", "c", "d", "e"}, quiet: c.quiet}
			for _, f := range c.replies {
				f(r)
			}
			got := make([]any, 5)
			for i := range got {
				got[i] = "-"
			}
			r.errors(verbDeleteRun, srv, 0, r.settled, func(i int, err error) {
				require.Equal(t, "-", got[i])
				got[i] = "ok"
				if errors.Is(err, ErrNotFound) {
					require.Same(t, srv.misses[verbDeleteRun], err)
					got[i] = "miss"
				} else if err != nil {
					require.ErrorIs(t, err, ErrServer)
					got[i] = map[Outcome]string{Answered: "no", Unknown: "?"}[err.(*OpError).Outcome] //nolint:errorlint // it is one
				}
			})
			require.Equal(t, c.want+"\n", fmt.Sprintln(got...))
		})
	}
}

// The opaques of a run follow one another, and none is 0.
func TestReserve(t *testing.T) {
	of := func(n int) *op { return &op{request: request{run: &run{keys: make([]string, n)}}} }
	c := &conn{}
	require.EqualValues(t, 1, c.reserve(&op{}))
	require.EqualValues(t, 2, c.reserve(of(10)))
	require.EqualValues(t, 12, c.reserve(&op{}))
	c.opaque = math.MaxUint32 - 10
	require.Equal(t, uint32(math.MaxUint32-9), c.reserve(of(10)))
	require.EqualValues(t, 1, c.reserve(of(1)))
	c.opaque = math.MaxUint32 - 9
	require.EqualValues(t, 1, c.reserve(of(10)), "not across the end")
	require.EqualValues(t, 11, c.reserve(&op{}))
}

// A run returns what was put into it under the caller's names, and starts empty.
func TestRunNames(t *testing.T) {
	for range 3 {
		var o op
		r := o.startRun(true)
		require.Empty(t, r.keys)
		require.Empty(t, r.echo)
		r.add(wireKey{stored: "a", text: "a"}, "a")
		require.Equal(t, "a", r.name(0))
		require.Empty(t, r.names)
		r.add(wireKey{stored: "b c", text: "YiBj", base64: true}, "b c")
		r.add(wireKey{stored: "p:d", text: "p:d"}, "d")
		require.Equal(t, []string{"a", "b c", "d"}, r.names)
		require.Equal(t, []string{"a", "YiBj", "p:d"}, r.keys)
		require.Equal(t, []string{"a", "", "p:d"}, r.echoed())
		require.True(t, r.coded(1))
		require.False(t, r.coded(2))
		r.answer(1, &reader.Result{Status: reader.NotFound})
		r.put()
	}
}

func TestWindow(t *testing.T) {
	w := window{requests: 10, bytes: 100}
	for _, c := range []struct {
		n, bytes     int
		open, refill bool
	}{
		{0, 0, true, true}, {1, 1000, true, true}, {2, 1000, false, false}, {2, 99, true, false}, {9, 50, true, false},
		{10, 10, false, false}, {5, 50, true, true}, {6, 10, true, false}, {5, 51, true, false},
	} {
		require.Equal(t, c.open, w.open(c.n, c.bytes), "open %d %d", c.n, c.bytes)
		require.Equal(t, c.refill, w.refill(c.n, c.bytes), "refill %d %d", c.n, c.bytes)
	}
}
