package client_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
)

// What is left out of an error takes nothing else with it, however the error came
// together.
func TestExceptKeepsTheRest(t *testing.T) {
	miss, late := &client.OpError{Op: "delete", Err: client.ErrNotFound}, &client.OpError{Op: "set", Err: client.ErrTimeout}
	batch := func(errs ...error) error { return &client.BatchError{Op: "batch", Errs: errs} }
	for name, p := range map[string]struct {
		err  error
		want error // nil: nothing is left
	}{
		"nothing":                    {nil, nil},
		"all":                        {batch(miss, nil, miss), nil},
		"some":                       {batch(miss, late), client.ErrTimeout},
		"wrapped":                    {fmt.Errorf("mine: %w", batch(miss)), nil},
		"wrapped, some":              {fmt.Errorf("mine: %w", batch(miss, late)), client.ErrTimeout},
		"two batches":                {errors.Join(batch(miss), batch(late)), client.ErrTimeout},
		"two batches, all":           {errors.Join(batch(miss), batch(miss)), nil},
		"a batch and another":        {errors.Join(batch(miss), late), client.ErrTimeout},
		"another and a batch":        {errors.Join(late, batch(miss)), client.ErrTimeout},
		"a batch and a miss":         {errors.Join(batch(miss), miss), nil},
		"joined and wrapped":         {fmt.Errorf("mine: %w", errors.Join(batch(miss), late)), client.ErrTimeout},
		"an error with its cause":    {fmt.Errorf("%w: %w", errors.New("mine"), batch(late)), client.ErrTimeout},
		"one operation's":            {miss, nil},
		"another's":                  {late, client.ErrTimeout},
		"one operation's, of causes": {&client.OpError{Op: "get", Err: fmt.Errorf("%w: %w", client.ErrNotFound, client.ErrTimeout)}, nil},
	} {
		left := client.Except(p.err, client.ErrNotFound)
		if p.want == nil {
			require.NoError(t, left, name)
			continue
		}
		require.ErrorIs(t, left, p.want, name)
		require.NotErrorIs(t, left, client.ErrNotFound, name)
	}
}
