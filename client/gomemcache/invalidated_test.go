package memcache_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
)

// Which calls make their caller the one to store an invalidated item anew, as
// MIGRATING.md says.
func TestInvalidatedItem(t *testing.T) {
	mc, addr := start(t)
	c := dial(t, nil, listOf(t, addr))
	direct, err := client.New([]string{mc.Addr()}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, direct.Close()) }()
	ctx := context.Background()
	for name, test := range map[string]struct {
		call func() error
		then client.State
	}{
		"get":           {func() error { _, err := c.Get("k"); return err }, client.Stale | client.Claimed},
		"get and touch": {func() error { _, err := c.GetAndTouch("k", 60); return err }, client.Stale | client.Claimed},
		"touch":         {func() error { return c.Touch("k", 60) }, client.Stale | client.Claimed},
		"get multi":     {func() error { _, err := c.GetMulti([]string{"k"}); return err }, client.Stale | client.Won},
		"client's touch": {
			func() error { return direct.Touch(ctx, "k", time.Minute) }, client.Stale | client.Claimed,
		},
		"client's inspect": {
			func() error { _, err := direct.Inspect(ctx, "k"); return err }, client.Stale | client.Claimed,
		},
	} {
		set(t, c, "k", "old")
		require.NoError(t, direct.Delete(ctx, "k", client.DeleteOptions{Invalidate: true}))
		require.NoError(t, test.call(), name)
		it, err := direct.Get(ctx, "k")
		require.NoError(t, err)
		require.Equal(t, test.then, it.State, name)
		require.Equal(t, "old", string(it.Value))
	}
}
