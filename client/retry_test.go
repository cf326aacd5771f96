package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func TestSafeToRetry(t *testing.T) {
	op := func(o client.Outcome) error { return &client.OpError{Op: "set", Outcome: o, Err: client.ErrTimeout} }
	notSent, unknown, answered := op(client.NotSent), op(client.Unknown), op(client.Answered)
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":               {nil, false},
		"not of an operation":    {errors.New("other"), false},
		"not sent":               {notSent, true},
		"unknown":                {unknown, false},
		"answered":               {answered, false},
		"wrapped":                {fmt.Errorf("wrapped: %w", notSent), true},
		"wrapped unknown":        {fmt.Errorf("wrapped: %w", unknown), false},
		"all of several":         {errors.Join(notSent, notSent), true},
		"one of several unknown": {errors.Join(notSent, unknown), false},
		"one answered":           {errors.Join(notSent, answered), false},
		"deep":                   {fmt.Errorf("%w, %w", errors.Join(notSent, fmt.Errorf("x: %w", unknown)), notSent), false},
		"with something else":    {errors.Join(notSent, errors.New("other")), true},
	} {
		require.Equal(t, c.want, client.SafeToRetry(c.err), name)
	}
}

// A command for all servers that one of them may have carried out is not safe to
// repeat, whatever kept it from the others.
func TestSafeToRetryOfAllServers(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		up := memcachedtest.NewServer(t, memcachedtest.ServerOptions{Script: always(memcachedtest.Answer().Stall(nil))})
		down := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
		require.NoError(t, down.Refuse(true))
		for _, servers := range [][]string{{up.Addr(), down.Addr()}, {down.Addr(), up.Addr()}} {
			c := dial(t, &client.Config{Engine: kind, OpTimeout: -1}, servers...)
			before := up.RequestCount()
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error)
			go func() { done <- c.FlushAll(ctx) }()
			require.NoError(t, up.Wait(patient(t), func() bool { return up.RequestCount() > before }))
			cancel()
			require.False(t, client.SafeToRetry(<-done))
		}
		c := dial(t, &client.Config{Engine: kind}, down.Addr())
		require.True(t, client.SafeToRetry(c.FlushAll(patient(t))))
	})
}
