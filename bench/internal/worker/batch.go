package worker

import (
	"errors"
	"fmt"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
)

// batch builds an operation that stores many items, and perhaps deletes them again.
func batch(c cases.Case, what cases.Op, client peers.Client, shared *data) (func() error, error) {
	if c.Keys > len(shared.keys) {
		return nil, fmt.Errorf("there are %d keys, and a batch has %d", len(shared.keys), c.Keys)
	}
	deleter, deletes := client.(peers.Deleter)
	batcher, batches := client.(peers.Batcher)
	both := what == cases.SetDelete || what == cases.LoopBoth
	if both && !deletes {
		return nil, errors.New("this client deletes nothing")
	}
	from := 0
	next := func() (keys []string, values [][]byte) {
		if from+c.Keys > len(shared.keys) {
			from = 0
		}
		keys, values = shared.keys[from:from+c.Keys], shared.values[from:from+c.Keys]
		from += c.Keys
		return keys, values
	}
	if batches && (what == cases.SetMulti || what == cases.SetDelete) {
		return func() error {
			keys, values := next()
			err := batcher.SetMulti(keys, values)
			if err == nil && both {
				err = batcher.DeleteMulti(keys)
			}
			return err
		}, nil
	}
	return func() error {
		keys, values := next()
		for i, k := range keys {
			if err := client.Set(k, values[i]); err != nil {
				return err
			}
		}
		for i := 0; both && i < len(keys); i++ {
			if err := deleter.Delete(keys[i]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// beside stores one huge batch after the other while a slice lasts.
func (l *load) beside(s *shift) error {
	b, ok := l.client.(peers.Batcher)
	if !ok {
		return errors.New("this client has no batches")
	}
	size := l.spec.Case.Size
	keys := make([]string, l.spec.Case.Beside)
	values := make([][]byte, len(keys))
	value := make([]byte, size)
	for i := range keys {
		keys[i], values[i] = fmt.Sprintf("beside-%d", i), value
	}
	for {
		if err := b.SetMulti(keys, values); err != nil {
			return err
		}
		if s.over(time.Now()) {
			return nil
		}
	}
}
