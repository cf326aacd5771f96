package transport

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// request is one request in the model of an Outbox.
type request struct {
	bytes []byte
	loan  *Loan // nil: copied
	body  []byte
}

// TestOutboxModel compares an Outbox with a plain list of requests, by seed.
func TestOutboxModel(t *testing.T) {
	for seed := range uint64(3000) {
		if err := outboxRun(rand.New(rand.NewPCG(seed, 0))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func outboxRun(r *rand.Rand) error {
	var b Outbox
	var queue []request
	left := 0 // bytes of queue[0] that have left
	next := byte(0)
	draw := func(most int) []byte {
		p := make([]byte, r.IntN(most+1))
		for i := range p {
			p[i] = next
			next++
		}
		return p
	}
	for range 60 {
		switch r.IntN(6) {
		case 0, 1:
			head, body, tail := append(draw(5), 'h'), draw(20), draw(2)
			q := request{bytes: slices.Concat(head, body, tail)}
			if r.IntN(2) == 0 && len(body) > 0 {
				q.loan, q.body = new(Loan), body
			}
			b.Append(head, body, tail, q.loan)
			clear(head)
			clear(tail)
			if q.loan == nil {
				clear(body)
			}
			queue = append(queue, q)
		case 2: // some bytes leave
			n := r.IntN(b.Len() + 1)
			b.Left(n)
			for n > 0 {
				k := min(n, len(queue[0].bytes)-left)
				n, left = n-k, left+k
				if left == len(queue[0].bytes) {
					if l := queue[0].loan; l != nil && !l.Over() {
						return fmt.Errorf("a body has left and is still lent")
					}
					queue, left = queue[1:], 0
				}
			}
		case 3: // one is retracted
			if len(queue) == 0 {
				continue
			}
			i := r.IntN(len(queue))
			after := 0
			for _, q := range queue[i+1:] {
				after += len(q.bytes)
			}
			whole := i > 0 || left == 0
			if b.Retract(len(queue[i].bytes), after) != whole {
				return fmt.Errorf("Retract of a request which is whole or not: %v", whole)
			}
			if whole {
				if l := queue[i].loan; l != nil && !l.Over() {
					return fmt.Errorf("a body is retracted and still lent")
				}
				queue = slices.Delete(queue, i, i+1)
			}
		case 4: // a loan ends
			if len(queue) == 0 {
				continue
			}
			q := queue[r.IntN(len(queue))]
			if q.loan == nil {
				continue
			}
			was := !q.loan.Over()
			if r.IntN(2) == 0 {
				if b.Keep(q.loan) != was {
					return fmt.Errorf("Keep of a loan that is there or not: %v", was)
				}
			} else {
				w := new(Waiter)
				w.Init()
				if b.Want(q.loan, w) != was || b.Wanted() != was {
					return fmt.Errorf("Want of a loan that is there or not: %v", was)
				}
				b.KeepWanted()
				if w.Take() != was {
					return fmt.Errorf("a loan has ended and nobody was told, or the other way round")
				}
			}
			if !q.loan.Over() {
				return fmt.Errorf("a loan was to end")
			}
			clear(q.body)
		case 5:
			if len(queue) == 0 && r.IntN(2) == 0 {
				b.Reset(r.IntN(2) * 100)
			}
		}
		var want []byte
		for i, q := range queue {
			if i == 0 {
				want = append(want, q.bytes[left:]...)
			} else {
				want = append(want, q.bytes...)
			}
		}
		most := 1 + r.IntN(len(want)+1)
		var got []byte
		for _, p := range b.Pieces(make([][]byte, 0, 1+r.IntN(200)), most) {
			got = append(got, p...)
		}
		switch {
		case b.Len() != len(want):
			return fmt.Errorf("Len is %d, want %d", b.Len(), len(want))
		case len(got) > most || !bytes.HasPrefix(want, got) || len(want) > 0 && len(got) == 0:
			return fmt.Errorf("the pieces are %v of %v", got, want)
		}
		if p := b.Next(); p != nil && !bytes.Equal(p, want) {
			return fmt.Errorf("next is %v, want %v", p, want)
		}
	}
	return nil
}

// TestOutboxKeepMovesNothing: a loan that ends costs a copy of its body, whatever
// else is queued.
func TestOutboxKeepMovesNothing(t *testing.T) {
	var b Outbox
	loans := make([]Loan, 20)
	for i := range loans {
		b.Append([]byte("head"), make([]byte, 1000), []byte("tail"), &loans[i])
	}
	before := b.Cap()
	for i := range loans {
		require.True(t, b.Keep(&loans[i]))
	}
	require.Equal(t, before, b.Cap())
	require.Equal(t, 20*1008, b.Len())
}

// TestOutboxFull: with room for all pieces, all of it leaves at once.
func TestOutboxFull(t *testing.T) {
	var b Outbox
	var want []byte
	for i := range 5 {
		head, body := fmt.Appendf(nil, "head %d ", i), fmt.Appendf(nil, "body %d", i)
		b.Append(head, body, []byte("\r\n"), new(Loan))
		want = append(append(append(want, head...), body...), "\r\n"...)
	}
	require.Nil(t, b.Next())
	require.Equal(t, want, bytes.Join(b.Pieces(make([][]byte, 0, 16), 1<<20), nil))
	require.Equal(t, want[:20], bytes.Join(b.Pieces(make([][]byte, 0, 16), 20), nil))
}

// What was secret is in no memory that is kept, whether it has left before Scrub or
// after.
func TestOutboxScrub(t *testing.T) {
	for _, late := range []bool{false, true} {
		var b Outbox
		b.Append([]byte("head "), []byte("secret"), []byte(" tail"), nil)
		kept := b.own[:cap(b.own)]
		require.Contains(t, string(kept), "secret")
		if late {
			b.Left(3)
			b.Scrub()
			require.Equal(t, "d secret tail", string(b.Next()), "what has not left is left alone")
			b.Left(13)
			b.Reset(1 << 20)
		} else {
			b.Left(16)
			b.Reset(1 << 20)
			b.Scrub()
		}
		require.Equal(t, make([]byte, len(kept)), kept)
		b.Append([]byte("next"), nil, nil, nil)
		require.Equal(t, "next", string(b.Next()))
		b.Left(4)
		b.Reset(1 << 20)
		require.Contains(t, string(kept), "next", "once is enough")
	}
}
