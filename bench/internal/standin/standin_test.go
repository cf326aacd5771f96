package standin

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

func TestEverySoManyGetsOneIsLate(t *testing.T) {
	s := NewServer(Options{Delay: 5, Faults: cases.Faults{OneIn: 3, Late: 200}})
	var late []int
	for i := range 9 {
		switch s.due(1000, Answer{Get: true}) {
		case 1005:
		case 1205:
			late = append(late, i)
		default:
			t.Fatal("neither in time nor late by what was asked for")
		}
		require.EqualValues(t, 1005, s.due(1000, Answer{}), "what is no get is not late and doesn't count")
	}
	require.Equal(t, []int{2, 5, 8}, late)
}

func TestRepliesBehindALateOneWait(t *testing.T) {
	s := NewServer(Options{Faults: cases.Faults{OneIn: 2, Late: 200}})
	var l line
	l.push(s.due(0, Answer{Get: true}), []byte("a"))
	l.push(s.due(0, Answer{Get: true}), []byte("late"))
	l.push(s.due(10, Answer{Get: true}), []byte("c"))
	require.Equal(t, "a", string(l.due(199)))
	require.Equal(t, "alatec", string(l.due(200)))
}

func TestStall(t *testing.T) {
	s := NewServer(Options{Delay: 5})
	require.EqualValues(t, 100, s.due(100, Answer{Admin: true, Stall: 200 * time.Nanosecond}), "the order itself is answered")
	require.EqualValues(t, 300, s.due(150, Answer{Get: true}))
	require.EqualValues(t, 300, s.due(151, Answer{}), "whatever the request")
	require.EqualValues(t, 152, s.due(152, Answer{Admin: true}), "but for the benchmark's own")
	require.EqualValues(t, 304, s.due(299, Answer{Get: true}))
}
